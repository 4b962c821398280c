"""Plan for the service: one study, its rewards, its codes, and what all of it costs at most."""

from __future__ import annotations

import secrets
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lakatos.experiments.participants.prolific.errors import BudgetError, PlanError
from lakatos.experiments.participants.prolific.money import Money, ServiceFee
from lakatos.traces.files import read_named, read_toml

CodeType: TypeAlias = Literal[
    "COMPLETED", "NO_CONSENT", "FIXED_SCREENOUT", "FAILED_ATTENTION_CHECK", "INCOMPATIBLE_DEVICE"
]
COMPLETION_URL: Final = "https://app.prolific.com/submissions/complete?cc={code}"
"""Address to which the page sends participants back; ``{code}`` stands for the completion code."""
PLACEHOLDERS: Final = {
    "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
    "STUDY_ID": "{{%STUDY_ID%}}",
    "SESSION_ID": "{{%SESSION_ID%}}",
}
"""URL parameters that the service fills in with participant, study and submission."""


class RecruitmentSettings(BaseModel):
    """The settings file of a recruitment; every key is checked."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    experiment: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")
    """Name of the experiment whose page people are sent to."""
    title: str = Field(min_length=1, max_length=120)
    """Title that people see in the list of studies."""
    description: str = Field(min_length=1)
    url: str
    """Address of the page, without the service's parameters."""
    people: int = Field(ge=1, le=10_000)
    """Number of people who must complete."""
    minutes: int = Field(ge=1, le=360)
    """Minutes that it takes, as people are informed."""
    reward: str
    """Reward for each participant, in pounds or dollars, such as "1.50"."""
    currency: Literal["GBP", "USD"] = "GBP"
    """Currency of the account."""
    most_bonus: str = "0.00"
    """Most that a person can earn on top; reserved for everybody until bonuses are settled."""
    screen_out_reward: str = "0.00"
    """Paid to people who are screened out on the page; 0 asks them to return their place instead."""
    most_screened_out: int = Field(0, ge=0)
    """People who may be paid for being screened out; needed where they are paid."""
    most_failed_checks: int | None = Field(None, ge=0)
    """Attention checks that somebody who completes may fail and still be paid without being looked at; those who fail
    more are shown another code, and a person decides. Left out, everybody who completes is paid."""
    former_participants: Literal["exclude", "admit"] = "exclude"
    """Whether people of the run's earlier studies on the service may take part again; the page has a setting too."""
    blocked_studies: tuple[str, ...] = ()
    """Further studies on the service whose people may not take part."""
    most_minutes: int = Field(0, ge=0)
    """Minutes after which a place is taken back; 0 leaves it to the service."""
    least_per_hour: str = "6.00"
    """A plan that pays less is refused; the service's own minimum is 6.00 GBP or 8.00 USD."""
    service_percent: Decimal = ServiceFee().service_percent
    tax_percent: Decimal = ServiceFee().tax_percent
    fee_as_of: str = ServiceFee().as_of
    devices: tuple[Literal["desktop", "tablet", "mobile"], ...] = ("desktop", "tablet", "mobile")
    filters: tuple[dict[str, Any], ...] = ()
    """Filters of participants, in the service's own form; ``GET /filters/`` lists the choices."""
    completion_code: str = Field("", pattern=r"^[A-Za-z0-9_-]{0,64}$")
    """Code that the page shows to people who completed, where it has one already; made up when empty."""
    project: str = ""
    """Identifier of the project on the service; its default one when empty."""

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        place = urlsplit(url)
        own = place.scheme == "http" and place.hostname in ("127.0.0.1", "localhost")
        if not (own or (place.scheme == "https" and place.hostname)) or "{{%" in url:
            raise ValueError(
                "give an https address, without the service's parameters, which are added"
            )
        return url

    @field_validator("service_percent", "tax_percent")
    @classmethod
    def _percent(cls, value: Decimal) -> Decimal:
        if not 0 <= value <= 100:
            raise ValueError(f"{value} is no percentage")
        return value

    @model_validator(mode="after")
    def _amounts(self) -> RecruitmentSettings:
        try:
            reward, screened = self.money(self.reward), self.money(self.screen_out_reward)
            self.money(self.most_bonus)
            least = self.money(self.least_per_hour)
        except PlanError as error:
            raise ValueError(str(error).removesuffix(".")) from None
        if reward.minor * 60 < least.minor * self.minutes:
            raise ValueError(
                f"{reward} for {self.minutes} minutes is less than {least} an hour; raise the reward"
            )
        if reward <= screened:
            raise ValueError("screen_out_reward must be less than the reward")
        if bool(screened) != bool(self.most_screened_out):
            raise ValueError("screen_out_reward and most_screened_out are given together")
        return self

    def money(self, text: str) -> Money:
        """An amount in the currency of the plan."""
        return Money.parse(text, self.currency)


class RecruitmentPlan(BaseModel):
    """Settings, the key that makes creation idempotent, and the codes that the page shows at the end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str = Field(pattern=r"^[0-9a-f]{16,64}$")
    """Key in the study's internal name, written before it is created, so that a study is found, not created again."""
    settings: RecruitmentSettings
    codes: dict[CodeType, str]
    """Codes that the page shows, by how a visit ended."""
    earlier: tuple[str, ...] = ()
    """Earlier studies on the service whose people may not take part again."""

    @property
    def name(self) -> str:
        """Name that has to be typed to confirm the plan."""
        return self.settings.experiment

    @property
    def internal_name(self) -> str:
        """Seen by researchers only; ends with the key."""
        return f"{self.settings.experiment} [{self.key}]"

    @property
    def fee(self) -> ServiceFee:
        """Fee that the service charges on top of every payment."""
        return ServiceFee(
            self.settings.service_percent, self.settings.tax_percent, self.settings.fee_as_of
        )

    @property
    def reward(self) -> Money:
        """Reward of each participant, without fees."""
        return self.settings.money(self.settings.reward)

    @property
    def most_bonus(self) -> Money:
        """Largest bonus of each participant, without fees."""
        return self.settings.money(self.settings.most_bonus)

    @property
    def reward_cost(self) -> Money:
        """Cost of approving one person, with fees."""
        return self.fee.cost(self.reward)

    @property
    def person_cost(self) -> Money:
        """Most that one person can cost: reward, bonus and fees."""
        return self.reward_cost + self.fee.cost(self.most_bonus)

    @property
    def screen_out_cost(self) -> Money:
        """Cost of a person who is screened out, with fees."""
        return self.fee.cost(self.settings.money(self.settings.screen_out_reward))

    @property
    def total_cost(self) -> Money:
        """Most that the people wanted can cost, with everybody paid for being screened out that may be."""
        return (
            self.person_cost * self.settings.people
            + self.screen_out_cost * self.settings.most_screened_out
        )

    def draft(self) -> dict[str, Any]:
        """The body of ``POST /studies/``; the reward is in cents here."""
        wanted = self.settings
        joined = "&" if "?" in wanted.url else "?"
        filters = [dict(item) for item in wanted.filters]
        blocked = list(dict.fromkeys([*self.earlier, *wanted.blocked_studies]))
        if blocked:
            filters.append({"filter_id": "previous_studies_blocklist", "selected_values": blocked})
        body: dict[str, Any] = {
            "name": wanted.title,
            "internal_name": self.internal_name,
            "description": wanted.description,
            "external_study_url": wanted.url
            + joined
            + "&".join(f"{k}={v}" for k, v in PLACEHOLDERS.items()),
            "prolific_id_option": "url_parameters",
            "completion_codes": [
                {
                    "code": code,
                    "code_type": kind,
                    "actor": "participant",
                    "actions": [self._action(kind)],
                }
                for kind, code in sorted(self.codes.items())
            ],
            "total_available_places": wanted.people,
            "estimated_completion_time": wanted.minutes,
            "reward": self.reward.minor,
            "device_compatibility": list(wanted.devices),
            "peripheral_requirements": [],
            "filters": filters,
            "submissions_config": {"max_submissions_per_participant": 1},
        }
        optional = {"maximum_allowed_time": wanted.most_minutes, "project": wanted.project}
        return body | {name: value for name, value in optional.items() if value}

    def _action(self, kind: CodeType) -> dict[str, Any]:
        if kind != "FIXED_SCREENOUT" or not self.settings.most_screened_out:
            return {"action": "MANUALLY_REVIEW"}
        return {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": self.settings.money(self.settings.screen_out_reward).minor,
            "slots": self.settings.most_screened_out,
        }


def make_plan(
    settings: RecruitmentSettings, *, key: str = "", earlier: tuple[str, ...] = ()
) -> RecruitmentPlan:
    """A plan with a key and codes of its own, which nobody can guess."""
    kinds: list[CodeType] = ["COMPLETED", "NO_CONSENT", "FIXED_SCREENOUT", "INCOMPATIBLE_DEVICE"]
    if settings.most_failed_checks is not None:
        kinds.append("FAILED_ATTENTION_CHECK")
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    codes: dict[CodeType, str] = {}
    given = settings.completion_code
    while len(set(codes.values())) < len(kinds):
        codes = {kind: "".join(secrets.choice(letters) for _ in range(8)) for kind in kinds}
        codes["COMPLETED"] = given or codes["COMPLETED"]
    kept = earlier if settings.former_participants == "exclude" else ()
    return RecruitmentPlan(
        key=key or secrets.token_hex(12), settings=settings, codes=codes, earlier=kept
    )


def load_settings(path: Path) -> RecruitmentSettings:
    """Read the settings of a recruitment from a TOML file.

    Raises:
        PlanError: It is missing, is no TOML, or says what a plan cannot say; the message names the key.
    """
    try:
        value = read_toml(read_named(path).decode())
    except OSError as error:
        raise PlanError(
            f"cannot read {path}: {error.strerror}. Give a TOML file with the plan's settings."
        ) from None
    except ValueError as error:
        raise PlanError(f"{path} is not valid TOML in UTF-8: {error}.") from None
    return parse_settings(value, str(path))


def parse_settings(value: dict[str, Any], where: str) -> RecruitmentSettings:
    """Check settings given as plain values; ``where`` names them in errors."""
    try:
        return RecruitmentSettings.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        message = str(first["msg"]).removeprefix("Value error, ")
        known = (
            f"; known: {', '.join(RecruitmentSettings.model_fields)}"
            if first["type"] == "extra_forbidden"
            else ""
        )
        raise PlanError(f"{where}: {place + ': ' if place else ''}{message}{known}.") from None


class SpendingConfirmation:
    """A person's word that a plan may spend up to a limit; only `confirm` makes one."""

    def __init__(
        self, plan: RecruitmentPlan, limit: Money, *, _made_by_confirm: bool = False
    ) -> None:
        """Refuse to be made by anybody but `confirm`."""
        if not _made_by_confirm:
            raise BudgetError(
                "nothing is published without a confirmation; ask for one with `confirm`."
            )
        self.plan, self.limit = plan, limit


def confirm(
    plan: RecruitmentPlan, limit: Money, *, typed_name: str = "", typed_cost: Money | None = None
) -> SpendingConfirmation:
    """Accept the word of the person in charge: the study's name, or the exact total cost, typed again.

    Raises:
        BudgetError: Neither was typed as it is, or the plan can cost more than the limit.
    """
    if typed_cost is not None and typed_cost != plan.total_cost:
        raise BudgetError(
            f"{plan.name} costs up to {plan.total_cost}, not {typed_cost}; nothing was published."
        )
    if typed_cost is None and typed_name != plan.name:
        raise BudgetError(f"to publish, type the name {plan.name!r}; nothing was published.")
    if not plan.total_cost <= limit:
        raise BudgetError(
            f"{plan.name} costs up to {plan.total_cost}, more than the limit of {limit}. "
            "Raise the limit, ask fewer people, or lower the bonus; nothing was published."
        )
    return SpendingConfirmation(plan, limit, _made_by_confirm=True)
