"""A frozen preregistration in the form that registries ask for, as plain values and as Markdown.

References:
    Bowman, DeHaven, Errington, Hardwicke, Mellor, Nosek & Soderberg (2020), OSF Prereg Template,
    doi:10.31222/osf.io/epgjd. Simmons, Nelson & Simonsohn (2021), Pre-registration: Why and how, Journal of Consumer
    Psychology 31(1), 151-162 (the nine questions of AsPredicted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.participants.timed_answer import TimedTask, timed_task
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.task import Design, Domain

Array = NDArray[Any]
HOW = {
    "simulated": "Simulated participants who follow a hidden rule. This is a rehearsal without human data.",
    "archival": "Published human responses, released to the laboratory only as this plan requires them.",
    "own file": "Responses in a file, collected before this plan and opened to the theories only as it requires.",
    "web": "Adults who take part on the laboratory's own web page, which they reach by a link or a recruitment "
    "service.",
    "file": "Participants whose responses are collected elsewhere, with the trials of this plan, and imported as a "
    "file.",
    "language_model": "A language model responds in place of participants, in one session each. There are no human "
    "data.",
}
EXISTING = {
    "archival": "Registration prior to analysis of the data: the responses had been published; neither the theories "
    "nor their populations have been fitted to the responses that this plan requires.",
    "own file": "Registration prior to analysis of the data by the theories: the responses had already been collected "
    "when this plan was frozen, and the people who held them may have inspected them. Neither the theories nor their "
    "populations have been fitted to the responses that this plan requires.",
}
"""Words by source of participants; a file of the study's own is ``own file``."""
NOT_PEOPLE = ("simulated", "language_model")
"""Sources of responses of which no person gave one."""
BLINDING = "Participants see their own trials and no theory; responses are not handled by hand."
WITHOUT_PEOPLE = "Not applicable, because no person takes part. Responses are not handled by hand."
NO_DATA = (
    "Registration prior to creation of data: no participant has taken part in this experiment."
)
ASKED = (
    "This text was exported after data collection began, so data may exist. Its content was frozen before the first "
    "participant of this experiment took part and is unchanged."
)


def registration(
    plan: Preregistration,
    design: Design,
    domain: Domain,
    predictions: Mapping[str, Array],
    *,
    record: str,
    study: str,
    question: str,
    source: str,
    asked: bool = False,
    said: Mapping[str, str] | None = None,
    manner: Sequence[str] = (),
    n_answers: int = 0,
    earlier: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Everything that was frozen, under the headings of two registries, and what each theory predicts for each trial.

    Args:
        plan: What was frozen.
        design: Its design.
        domain: Domain of the task.
        predictions: Arrays of the plan's artifact; ``DIGEST:proportions`` is ``(3, n_trials)``: the expected share of
            the last option, and its 95% interval for the planned number of people. Of more than two options
            ``DIGEST:shares`` is ``(3, n_trials, n_options)``.
        record: Digest of the plan's record, by which the trace finds it.
        study: Name of the study.
        question: Question of the study.
        source: Source of the participants, as in a study file; ``own file`` where they are archival and stand in one.
        asked: Whether people have been asked by now, so that the text may not say that there are no data.
        said: What each theory claims, by digest, without estimates of its parameters.
        manner: How trials are given, in sentences: practice, breaks, time limits, conditions.
        n_answers: Responses that are there, of an archive or a file.
        earlier: Experiments whose responses were there when the plan was frozen, with how many these are, such as
            "2,400 responses of 25 participants".
    """
    names, n_options = dict(plan.rivals), domain.n_options(design.stimuli)
    labels = _predicted_options(domain, n_options)
    chosen = f"option {labels[0]}" if n_options == 2 else "each option"
    parts = _plan_words(
        plan,
        design,
        domain,
        hypotheses=_hypotheses(names, said or {}, chosen),
        record=record,
        source=source,
        asked=asked,
        manner=manner,
        n_answers=n_answers,
        earlier=_earlier(earlier or {}),
    )
    return {
        "format": "lakatos-registration",
        "version": 2,
        "record": record,
        "experiment": plan.experiment,
        "data_exist": source in EXISTING,
        "osf_prereg": _osf_prereg(parts, plan, f"{study}: experiment {plan.experiment}", question),
        "as_predicted": _as_predicted(parts, plan, question),
        "predicted_options": labels,
        "theories": [{"digest": digest, "name": name} for digest, name in names.items()],
        "exclusion_rules": list(plan.exclusion_rules),
        "predictions": [
            {
                "trial": row + 1,
                "description": domain.describe(design.stimuli, row),
                "shares": {
                    name: _shares(predictions, digest, row, n_options)
                    for digest, name in names.items()
                    if f"{digest}:proportions" in predictions
                },
            }
            for row in range(len(design.stimuli))
        ],
    }


@dataclass(frozen=True)
class PlanWords:
    """Content of a plan, for either registry."""

    hypotheses: str
    manipulated: str
    measured: str
    order: str
    sample: str
    rationale: str
    existing: str
    """Whether there are data of this experiment already."""
    earlier: str
    """Responses that there were of earlier experiments of the study; empty for the first."""
    collection: str
    blinding: str
    manner: Sequence[str]
    exclusions: str
    frozen: str

    @property
    def is_before_data(self) -> bool:
        """Whether nobody has been asked in the whole study."""
        return self.existing == NO_DATA and not self.earlier


def _predicted_options(domain: Domain, n_options: int) -> list[str]:
    """Labels of the options whose shares are predicted: of two the last one alone."""
    has_names = n_options <= len(domain.options)
    labels = list(domain.options[:n_options]) if has_names else []
    labels = labels or [f"option {option + 1}" for option in range(n_options)]
    return labels[-1:] if n_options == 2 else labels


def _hypotheses(names: Mapping[str, str], claims: Mapping[str, str], chosen: str) -> str:
    """State what is tested and what each rival claims; ``chosen``: the option whose share is predicted."""
    rivals = []
    for number, (digest, name) in enumerate(names.items(), start=1):
        claim = claims.get(digest)
        rivals.append(f"({number}) {name}: {claim}" if claim else f"({number}) {name}.")
    return (
        f"These theories compete. {' '.join(rivals)} Each predicts, for every trial, the proportion of choices of "
        f"{chosen}; the table of predictions gives it with a 95% interval. Predictions are directional: "
        "the theory whose frozen predictions give the responses the highest probability is supported, unless it is "
        "tied."
    )


def _earlier(counts: Mapping[str, str]) -> str:
    """State which responses there were when a plan was frozen; empty before the first experiment."""
    if not counts:
        return ""
    listed = "; ".join(f"{name}: {count}" for name, count in counts.items())
    return (
        f"Responses to earlier experiments of this study existed when this plan was frozen ({listed}). Theories could "
        "be derived and parameters be estimated from them. No response that this plan requires was used."
    )


def _powers(plan: Preregistration) -> str:
    """The probability with which each of a pair of rivals would be recovered."""
    names = dict(plan.rivals)
    lines = []
    for line in plan.powers:
        first, second = (names.get(d, d[:8]) for d in (line.first, line.second))
        lines.append(
            f"{first} against {second}: recovered with probability {line.power_first:.2f} if the first is true "
            f"and {line.power_second:.2f} if the second is true."
        )
    return " ".join(lines) or "No pair of rivals was simulated."


def _plan_words(
    plan: Preregistration,
    design: Design,
    domain: Domain,
    *,
    hypotheses: str,
    record: str,
    source: str,
    asked: bool,
    manner: Sequence[str],
    n_answers: int,
    earlier: str,
) -> PlanWords:
    """State the plan, sentence by sentence; arguments as of `registration`."""
    task = timed_task(domain)
    timed = ", and its response time" if source in ("web", "file") and task is None else ""
    options = ", ".join(domain.options)
    in_order = "Steps are presented in the order of their schedule."
    at_random = "The order of trials is random and differs between participants; the sides of options are random."
    if exist := source in EXISTING:
        at_random = "Order and sides are those of the original presentation."
    sample = f"{plan.n_participants} participants with {design.n_presentations} responses each."
    if n_answers:
        n_trials = len(design.stimuli)
        sample = f"{plan.n_participants} participants with {n_answers:,} responses to {n_trials} trials; these are "
        "all existing responses."
    when = "these responses were opened to the theories" if exist else "data collection"
    return PlanWords(
        hypotheses=hypotheses,
        manipulated=f"The trial presented, within participants: {plan.design_summary}",
        measured=(
            f"The option chosen in each presentation of each trial ({options}){timed}."
            if task is None
            else _timed_measure(task)
        ),
        order=in_order if domain.sequential else at_random,
        sample=sample,
        rationale=_powers(plan),
        existing=EXISTING.get(source, ASKED if asked else NO_DATA),
        earlier=earlier,
        collection=HOW.get(source, source),
        blinding=WITHOUT_PEOPLE if source in NOT_PEOPLE else BLINDING,
        manner=manner,
        exclusions=" ".join(plan.exclusion_rules or ["None; every response is included."]),
        frozen=(
            f"Frozen by digest in a hash-chained journal before {when}: record {record}, design "
            f"{plan.design}, predictions and populations of {plan.n_draws} draws per theory {plan.predictions}."
        ),
    )


def _timed_measure(task: TimedTask) -> str:
    """State what is measured where a response is a key with its time."""
    edges = task.scale.edges
    listed = ", ".join(f"{edge:g}" for edge in edges)
    return (
        "The key pressed in each presentation of each trial, right or wrong, and its time from the target's "
        f"appearance, in one of {len(edges) - 1} bins between {listed} {task.scale.unit}."
    )


def _osf_prereg(
    parts: PlanWords, plan: Preregistration, title: str, question: str
) -> dict[str, dict[str, str]]:
    """The plan under the headings of the OSF's preregistration."""
    explained = parts.existing
    if parts.is_before_data:
        explained = "There are none."
    elif parts.existing in (ASKED, NO_DATA):
        explained = parts.earlier or "None existed when this plan was frozen."
    elif parts.earlier:
        explained += f" {parts.earlier}"
    return {
        "Study Information": {
            "Title": title,
            "Description": question,
            "Hypotheses": parts.hypotheses,
        },
        "Design Plan": {
            "Study type": "Experiment",
            "Blinding": parts.blinding,
            "Is there any additional blinding in this study?": "No.",
            "Study design": parts.manipulated,
            "Randomization": parts.order,
        },
        "Sampling Plan": {
            "Existing data": parts.existing,
            "Explanation of existing data": explained,
            "Data collection procedures": " ".join([parts.collection, *parts.manner]),
            "Sample size": parts.sample,
            "Sample size rationale": parts.rationale,
            "Stopping rule": plan.stopping_rule,
        },
        "Variables": {
            "Manipulated variables": parts.manipulated,
            "Measured variables": parts.measured,
            "Indices": "Choice proportions of each trial; log predictive probability of each participant's responses.",
        },
        "Analysis Plan": {
            "Statistical models": plan.analysis,
            "Transformations": "None.",
            "Inference criteria": "The 95% interval of a paired difference, clustered by participant, "
            f"excludes zero and is based on at least {LEAST_UNITS} participants.",
            "Data exclusion": parts.exclusions,
            "Missing data": "Missing responses are left out; nothing is imputed.",
            "Exploratory analysis": "Diagnoses of misfits, and theories made afterwards, are exploratory "
            "until new participants have responded.",
        },
        "Other": {"Other": parts.frozen},
    }


def _as_predicted(parts: PlanWords, plan: Preregistration, question: str) -> dict[str, str]:
    """The plan under the headings of AsPredicted."""
    none = "No, no data have been collected for this study yet. "
    collected = (none if parts.is_before_data else "It's complicated. ") + parts.existing
    if parts.earlier:
        collected += f" {parts.earlier}"
    size = f"{parts.sample} Stopping rule: {plan.stopping_rule}. {parts.rationale}"
    return {
        "1) Data collection. Have any data been collected for this study already?": collected,
        "2) Hypothesis. What's the main question being asked or hypothesis being tested in this study?": (
            f"{question} {parts.hypotheses}"
        ),
        "3) Dependent variable. Describe the key dependent variable(s) specifying how they will be measured.": (
            parts.measured
        ),
        "4) Conditions. How many and which conditions will participants be assigned to?": (
            " ".join([parts.manipulated, parts.order, *parts.manner])
        ),
        "5) Analyses. Specify exactly which analyses you will conduct to examine the main question/hypothesis.": (
            plan.analysis
        ),
        "6) Outliers and Exclusions.": parts.exclusions,
        "7) Sample Size. How many observations will be collected or what will determine sample size?": size,
        "8) Other. Anything else you would like to pre-register?": parts.frozen,
        "9) Type of study and data source.": f"Experiment. {parts.collection}",
    }


def _shares(
    predictions: Mapping[str, Array], digest: str, row: int, n_options: int
) -> list[dict[str, float]]:
    """The expected share of each predicted option, in their order, and its interval."""
    name = f"{digest}:proportions" if n_options == 2 else f"{digest}:shares"
    values = np.asarray(predictions[name])[:, row].reshape(3, -1)
    return [
        dict(zip(("share", "low", "high"), np.round(value, 4).tolist(), strict=True))
        for value in values.T
    ]


def to_markdown(value: Mapping[str, Any]) -> str:
    """A `registration` as a page: the fields of both registries, then every prediction."""
    title = (
        "Plan for responses that were already collected"
        if value["data_exist"]
        else "Preregistration"
    )
    lines = [
        f"# {title}: experiment {value['experiment']}",
        "",
        f"Record `{value['record']}`.",
        "",
    ]
    lines += ["## OSF Preregistration", ""]
    for section, fields in value["osf_prereg"].items():
        lines += [f"### {section}", ""]
        for field, text in fields.items():
            lines += [f"**{field}**", "", text, ""]
    lines += ["## AsPredicted", ""]
    for field, text in value["as_predicted"].items():
        lines += [f"**{field}**", "", text, ""]
    names = [theory["name"] for theory in value["theories"]]
    options = " / ".join(value["predicted_options"])
    lines += [
        "## Predictions",
        "",
        f"Proportion of choices of {options}, with its 95% interval.",
        "",
    ]
    lines += [
        "| trial | " + " | ".join(["description", *map(_cell, names)]) + " |",
        "|---" * (len(names) + 2) + "|",
    ]
    for trial in value["predictions"]:
        shares = [_share(trial["shares"].get(name, [])) for name in names]
        lines.append(
            f"| {trial['trial']} | {_cell(trial['description'])} | " + " | ".join(shares) + " |"
        )
    return "\n".join(lines) + "\n"


def _share(values: Sequence[Mapping[str, float]]) -> str:
    return " / ".join(
        f"{value['share']:.2f} ({value['low']:.2f} to {value['high']:.2f})" for value in values
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
