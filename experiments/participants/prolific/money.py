"""Amounts of money as whole cents or pence, and what the service charges on top."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from lakatos.experiments.participants.prolific.errors import PlanError


@dataclass(frozen=True, order=False)
class Money:
    """An amount in the smallest unit of a currency that has a hundred of them (pounds, dollars, euros)."""

    minor: int
    """Cents or pence."""
    currency: str = "GBP"

    def __post_init__(self) -> None:
        if type(self.minor) is not int:
            raise PlanError(f"an amount is a whole number of cents or pence, not {self.minor!r}.")

    @classmethod
    def parse(cls, text: str, currency: str = "GBP") -> Money:
        """An amount written in pounds or dollars, such as ``12``, ``12.5`` or ``12.50``.

        Raises:
            PlanError: It is not such a number, is negative, or has fractions of a cent.
        """
        if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,2})?", text):
            raise PlanError(
                f"{text!r} is no amount of money; write pounds or dollars with a point, such as 12.50."
            )
        return cls(int(Decimal(text) * 100), currency)

    def __str__(self) -> str:
        return f"{self.major} {self.currency}"

    @property
    def major(self) -> str:
        """The amount in pounds or dollars, as bonuses are transmitted: ``4.05``."""
        sign, cents = "-" if self.minor < 0 else "", abs(self.minor)
        return f"{sign}{cents // 100}.{cents % 100:02d}"

    def __add__(self, other: Money) -> Money:
        return Money(self.minor + self._same(other), self.currency)

    def __sub__(self, other: Money) -> Money:
        return Money(self.minor - self._same(other), self.currency)

    def __mul__(self, n: int) -> Money:
        return Money(self.minor * n, self.currency)

    def __floordiv__(self, other: Money) -> int:
        return self.minor // self._same(other)

    def __le__(self, other: Money) -> bool:
        return self.minor <= self._same(other)

    def __lt__(self, other: Money) -> bool:
        return self.minor < self._same(other)

    def __bool__(self) -> bool:
        return self.minor != 0

    def _same(self, other: Money) -> int:
        if self.currency != other.currency:
            raise PlanError(
                f"{self} and {other} are in two currencies; use the one of the account throughout."
            )
        return other.minor


@dataclass(frozen=True)
class ServiceFee:
    """Fee of the service on each reward and bonus, in percent, and the value added tax on that charge."""

    service_percent: Decimal = Decimal("42.8")
    """Share of the reward: 42.8 for companies, 33.3 for universities and charities on the date in `as_of`."""
    tax_percent: Decimal = Decimal("20")
    """Value added tax on the service's share; 0 where it is not charged."""
    as_of: str = "2026-09-20"
    """Day on which the percentages were read (https://www.prolific.com/pricing)."""

    def cost(self, amount: Money) -> Money:
        """``amount`` with fee and tax, rounded up to the next cent, so that sums of costs are never too small."""
        share = self.service_percent / 100 * (1 + self.tax_percent / 100)
        return amount + Money(
            int((amount.minor * share).to_integral_value(ROUND_CEILING)), amount.currency
        )
