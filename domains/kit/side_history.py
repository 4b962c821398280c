"""What people chose before draws them to a side, in tasks with two sides: mechanisms that several tasks share.

Each adds log odds for the second side to a variable of its task. ``state`` holds arrays ``(n_draws or 1, n_sequences or
1)``.
"""

from __future__ import annotations

from lakatos.domains.kit.parameter import LOG_ODDS, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

SIDE = "(response[..., 1] - response[..., 0])"
"""1 for each participant who chose the second side, -1 for one who chose the first."""
NOTHING_YET = "xp.zeros((1, 1))"


def side_history(variable: str, breaks: tuple[str, ...], place: str = "side") -> list[Mechanism]:
    """Perseveration, habit and leaving a side after a run of choices.

    Args:
        variable: Name of the log odds for the second side, to which the mechanisms add.
        breaks: Properties that such a theory violates.
        place: What descriptions of parameters call a side.
    """
    return [
        Mechanism(
            slot="history",
            name="perseveration",
            code=f'{variable} = {variable} + parameters["stickiness"] * state["side"]',
            start=f'state["side"] = {NOTHING_YET}',
            learn=f'state["side"] = {SIDE}',
            parameters={
                "stickiness": normal(
                    0.0,
                    1.0,
                    6.0,
                    "log odds",
                    f"for the {place} chosen last; below 0 people alternate",
                )
            },
            wording=Wording(
                clause="{much}tend to choose the side that they chose last",
                opposite_clause="{much}tend to avoid the side that they chose last",
                parameter="stickiness",
                unit=LOG_ODDS,
                feature="last_choice",
                label="repetition",
                opposite_label="alternation",
            ),
            breaks=breaks,
            needs=("sides",),
            source="Fründ, Wichmann & Macke (2014), Journal of Vision 14(7), 9",
        ),
        Mechanism(
            slot="history",
            name="habit",
            code=f'{variable} = {variable} + parameters["habit_strength"] * state["habit"]',
            start=f'state["habit"] = {NOTHING_YET}',
            learn=f'state["habit"] = state["habit"] + parameters["habit_rate"] * ({SIDE} - state["habit"])',
            parameters={
                "habit_strength": normal(
                    0.0,
                    1.5,
                    8.0,
                    "log odds",
                    f"for a {place} always chosen lately; below 0 people avoid it",
                ),
                "habit_rate": uniform(
                    0.02, 1.0, "share per choice", "how fast a habit forms and fades"
                ),
            },
            wording=Wording(
                clause="{much}tend to choose the side that they chose more often recently",
                opposite_clause="{much}tend to avoid the side that they chose more often recently",
                parameter="habit_strength",
                unit=LOG_ODDS,
                label="habit",
                opposite_label="alternation",
            ),
            breaks=breaks,
            needs=("sides",),
            source="Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579",
        ),
        Mechanism(
            slot="history",
            name="streak",
            code=f"""
            tired = xp.sign(state["run"]) * (xp.abs(state["run"]) >= parameters["longest_run"])
            {variable} = {variable} - parameters["switching"] * tired
            """,
            start=f'state["run"] = {NOTHING_YET}',
            learn=f'state["run"] = {SIDE} + xp.where(state["run"] * {SIDE} > 0, state["run"], 0.0)',
            parameters={
                "switching": normal(
                    1.0, 2.0, 8.0, "log odds", f"against the {place}; below 0 people hold on to it"
                ),
                "longest_run": uniform(
                    1.0, 8.0, "choices", f"of one {place} in a row after which it begins"
                ),
            },
            wording=Wording(
                clause="{much}tend to leave a side that they have chosen "
                "[{longest_run#}|a number of times in a row]",
                clause_short="to leave it",
                opposite_clause="{much}tend to keep to a side that they have chosen "
                "[{longest_run#}|a number of times in a row]",
                opposite_short="to keep to it",
                parameter="switching",
                unit=LOG_ODDS,
                label="switching",
                opposite_label="repetition",
            ),
            breaks=breaks,
            needs=("sides",),
            source="Rapoport & Budescu (1997), Psychological Review 104(3), 603-617",
        ),
    ]
