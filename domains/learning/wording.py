"""Words for theories of learning from rewards; `theories.language.account.ClauseWording` says what each entry means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Words = Mapping[str, tuple[dict[str, Any], ...]]
LOG_ODDS = 0.5


def _pull(
    by: str, says: str, opposite: str, label: str = "", other: str = "", shows: str = ""
) -> dict[str, Any]:
    return {
        "says": says, "opposite": opposite, "by": by, "unit": LOG_ODDS, "label": label, "opposite_label": other,
        "shows": shows,
    }  # fmt: skip


def _run(
    what: str, count: str, loyalty: str, leaving: str, label: str
) -> tuple[dict[str, Any], ...]:
    """Staying with an option until something has happened a number of times in a row."""
    times = f"{what} [{{{count}#}}|a number of times in a row]"
    return (
        _pull(
            loyalty,
            f"{{much}}tend to stay with an option until {times}",
            f"{{much}}tend to leave an option until {times}",
            label,
            "change",
        )
        | {"rest": "to leave it", "opposite_rest": "to stay with it", "base": f"note when {times}"},
        _pull(leaving, "{much}tend to leave it then", "{much}tend to stay with it even then")
        | {"rest": "to stay", "opposite_rest": "to leave"},
    )


def _ago(number: int) -> str:
    return {1: "last", 2: "two steps ago", 3: "three steps ago"}[number]


WORDS: Words = {
    "expectation:prior belief": (
        {"says": "begin with expectations of their own ({first_value}; a reward is 1)",
         "label": "prior beliefs"},
    ),
    "rate:constant": (
        {"says": "revise what they expect by a constant share of each surprise ({rate%})"},
    ),
    "rate:two rates": (
        {"says": "learn at different rates from good surprises ({rate_up%}) and from bad ones ({rate_down%})",
         "label": "two rates"},
    ),
    "rate:surprise-driven": (
        {"says": "learn faster after surprises, and more slowly when all went as expected",
         "label": "surprise"},
    ),
    "rate:few last outcomes": (
        {"says": "remember of each option the last few outcomes (about {window}), and weigh these alike"},
    ),
    "credit:direct": ({"says": ""},),
    "credit:eligibility": (
        {
            "says": "credit a first pick with where it led, and in part with what that paid ({eligibility%})",
            "by": "eligibility",
            "unit": 0.3, "label": "eligibility",
        },
    ),
    "others:forgetting": (
        {
            "says": "forget bit by bit what the options that they leave alone have paid ({forgetting%} each time)",
            "by": "forgetting",
            "unit": 0.1, "label": "forgetting",
        },
    ),
    "others:what would have been": (
        {
            "says": "{much}believe that an option which they left would have paid the opposite", "by": "fictive_rate",
            "unit": 0.1, "label": "imagined outcomes",
        },
    ),
    "planning:hybrid": (
        {
            "says": "judge a first pick in part ({planning%}) by where it mostly leads and the best that is to be "
                    "had there",
            "by": "planning", "unit": 0.3, "label": "planning",
        },
    ),
    "bonus:for the untried": (
        {
            "says": "are {much}drawn to options that they have tried less often",
            "opposite": "{much}avoid options that they have tried less often",
            "by": "curiosity", "times": "sensitivity", "unit": LOG_ODDS, "label": "curiosity",
            "opposite_label": "caution",
        },
    ),
    "habit:perseveration": (
        _pull("stickiness", "{much}tend to do again what they did last, whatever came of it",
              "{much}tend not to do again what they did last, whatever came of it", "repetition", "alternation",
              "last_choice") | {"rest": "not to", "opposite_rest": "to do it again"},
    ),
    "habit:choice trace": (
        _pull("habit", "{much}tend to pick again what they picked often of late",
              "{much}avoid what they picked often of late", "habit", "alternation", "last_choice"),
    ),
    "habit:win-stay lose-shift": (
        _pull("win_stay", "{much}stay with what was just rewarded", "{much}leave what was just rewarded",
              "win-stay", "win-shift") | {"rest": "leave it", "opposite_rest": "stay with it"},
        _pull("lose_shift", "{much}leave what was just not rewarded", "{much}stay with what was just not rewarded",
              "lose-shift", "lose-stay") | {"rest": "stay with it", "opposite_rest": "leave it"},
    ),
    "habit:giving up": _run("it has failed", "patience", "loyalty", "giving_up", "giving up"),
    "habit:cashing in": _run("it has paid", "streak", "streak_loyalty", "streak_end", "cashing in"),
    "habit:growing tired": _run("it was picked", "stamina", "stamina_loyalty", "weariness", "weariness"),
    "habit:last picks": tuple(
        _pull(f"pull_{number}", f"are {{much}}drawn to what they picked {_ago(number)}",
              f"are {{much}}driven away from what they picked {_ago(number)}", "repetition", "alternation")
        for number in (1, 2, 3)
    ),
    "habit:last outcomes": tuple(
        _pull(f"result_{number}", f"are {{much}}drawn to what paid {_ago(number)}, and away from what did not",
              f"are {{much}}driven away from what paid {_ago(number)}, and to what did not", "last outcomes",
              "reversed outcomes") | {"rest": "do the reverse", "opposite_rest": "do the reverse"}
        for number in (1, 2, 3)
    ),
    "habit:memory of two": tuple(
        _pull(f"{now}_{which}_{before}",
              f"{{much}}stay with a pick that {now} after {which_words} {before}",
              f"{{much}}leave a pick that {now} after {which_words} {before}", "two-step memory", "two-step memory")
        for now in ("lost", "won")
        for which, which_words in (("other", "the other option"), ("same", "the same option"))
        for before in ("lost", "won")
    ),
    "expectation:even": (
        {"says": "expect of every option, at first, that it pays half of the time", "plain": True},
    ),
    "choice:softmax": ({"says": "pick an option the more often, the better it seems", "plain": True},),
    "bias:first option": (
        _pull("lean", "{much}lean to the later options of the row", "{much}lean to the earlier options of the row",
              "a side bias", "a side bias") | {"rest": "to the earlier ones", "opposite_rest": "to the later ones"},
    ),
    "choice:greedy": ({"says": "pick the option that seems best, and {exploration~} any ({exploration%} of the "
                               "time)"},),
    "lapse:random": ({"says": "{lapse~} choose at random ({lapse%} of the time)"},),
}  # fmt: skip

SENTENCES = {"others": 1, "planning": 2, "bonus": 2, "habit": 2, "bias": 3, "choice": 3, "lapse": 3}

HEADS = (
    (("choice:guessing",), "Guessing"),
    (("planning:model-based",), "Model-based planning"),
    (("planning:hybrid",), "Planning and learning"),
    (("rate:none", "habit:win-stay lose-shift"), "Win-stay lose-shift"),
    (("rate:none", "habit"), "Habit alone"),
    (("rate:none",), "No learning"),
    (("rate:constant", "choice:Thompson sampling"), "Thompson sampling"),
    (("rate:constant",), "Error-driven learning"),
    (("rate:two rates",), "Asymmetric learning"),
    (("rate:surprise-driven",), "Surprise-driven learning"),
    (("rate:Kalman",), "Uncertainty-driven learning"),
    (("rate:averaging",), "Averaging of rewards"),
    (("rate:last outcome",), "Last outcomes"),
    (("rate:few last outcomes",), "Few remembered outcomes"),
    ((), "Learning"),
)
