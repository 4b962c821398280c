"""Words and signs of units: of money, of points, per cent, and of time."""

from __future__ import annotations

from lakatos.experiments.adoption.layouts import DAYS

CURRENCIES = {
    "$": "$", "us$": "$", "usd": "$", "dollar": "$", "dollars": "$",
    "€": "€", "eur": "€", "euro": "€", "euros": "€",
    "£": "£", "gbp": "£", "pound": "£", "pounds": "£",
    "chf": "CHF", "cad": "CAD", "aud": "AUD", "sek": "SEK", "nok": "NOK", "dkk": "DKK", "pln": "PLN",
    "¥": "¥", "jpy": "¥", "yen": "¥", "rmb": "CNY", "cny": "CNY", "yuan": "CNY", "₹": "₹", "inr": "₹",
}  # fmt: skip
CENTS = {"¢", "ct", "cts", "cent", "cents", "pence"}
"""Hundredths of whatever currency."""
POINTS = {"point", "points", "pt", "pts", "punkt", "punkte", "coin", "coins", "token", "tokens"}
PER_CENT = {"%", "percent", "per cent", "prozent"}
TIMES_MS = {
    "ms": 1.0, "msec": 1.0, "milliseconds": 1.0,
    "s": 1000.0, "sec": 1000.0, "secs": 1000.0, "second": 1000.0, "seconds": 1000.0,
}  # fmt: skip
MINUTES_OF_A_DAY = 1440
UNITS_OF_TIME = {
    "min": 1 / MINUTES_OF_A_DAY, "mins": 1 / MINUTES_OF_A_DAY, "minute": 1 / MINUTES_OF_A_DAY,
    "minutes": 1 / MINUTES_OF_A_DAY, "minuten": 1 / MINUTES_OF_A_DAY,
    "h": DAYS["hours"], "hr": DAYS["hours"], "hrs": DAYS["hours"], "hour": DAYS["hours"], "hours": DAYS["hours"],
    "stunde": DAYS["hours"], "stunden": DAYS["hours"],
    "d": 1.0, "day": 1.0, "days": 1.0, "tag": 1.0, "tage": 1.0, "tagen": 1.0,
    "w": DAYS["weeks"], "wk": DAYS["weeks"], "wks": DAYS["weeks"], "week": DAYS["weeks"], "weeks": DAYS["weeks"],
    "woche": DAYS["weeks"], "wochen": DAYS["weeks"],
    "mo": DAYS["months"], "mos": DAYS["months"], "month": DAYS["months"], "months": DAYS["months"],
    "monat": DAYS["months"], "monate": DAYS["months"], "monaten": DAYS["months"],
    "y": DAYS["years"], "yr": DAYS["years"], "yrs": DAYS["years"], "year": DAYS["years"], "years": DAYS["years"],
    "jahr": DAYS["years"], "jahre": DAYS["years"], "jahren": DAYS["years"],
}  # fmt: skip
"""Days of each unit of time."""
KNOWN = {*CURRENCIES, *CENTS, *POINTS, *PER_CENT, *TIMES_MS, *UNITS_OF_TIME}
