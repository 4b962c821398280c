"""Names of kinds of records, and a sentence for each record: for the observatory, `why` and exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.participants.answers import LANGUAGE_MODEL
from lakatos.flows.report.formats import fixed
from lakatos.flows.report.reader import RunReading, shortened
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.theories.findings.verdicts.conclude import in_new_names
from lakatos.traces.digest import Digest
from lakatos.traces.journal import INTENT
from lakatos.traces.record import OWN_TYPES
from lakatos.traces.wording import plural

ARCHIVAL: Final = "archival"
"""Source of participants whose responses there were before a run."""
STEPS: Final[Mapping[str, str]] = {
    "start": "beginning",
    "check": "checking a theory",
    "admit": "admitting theories",
    "design": "searching for informative trials",
    "preregister": "freezing predictions",
    "recruit": "recruiting participants",
    "collect": "collecting responses",
    "score": "scoring theories",
    "arbitrate": "diagnosing the losing theory",
    "weigh": "testing whether any misfit is left",
    "revise": "writing successors",
    "judge": "predicting by judges",
    "decide": "deciding about a candidate",
    "compare": "comparing similar theories",
    "settle": "scoring judges' predictions",
    "follow": "comparing the leader's predictions with those of the last cycle",
    "close": "closing the cycle",
    "map": "drawing the map of theories",
    "fold": "running the search without a part of the trials",
    "compare_truth": "comparing with the hidden rule",
    "open_sealed": "opening the sealed responses",
    "conclude": "computing the verdict",
    "relearn": "estimating the leader's population from all responses",
}
"""Names of steps; others go by their own name."""
KINDS: Final[Mapping[str, str]] = {
    INTENT: "step begun",
    "analyses_noted": "other analyses of the same responses",
    "candidate_decided": "decision about testing a new theory",
    "completeness_measured": "comparison with published theories and generic learners",
    "concluded": "verdict of the run",
    "epoch_opened": "judges installed",
    "exactness_weighed": "test of the leading theory's misfit",
    "leader_followed": "predictions of the leading theory compared with those of the last cycle",
    "library_taken": "memory of earlier runs read",
    "machine_used": "machine described",
    "preregistration": "predictions frozen",
    "theories_mapped": "map of theories",
    "theory_won": "theory kept for later studies",
    "theories_told": "final names and claims of theories",
    "truth_compared": "comparison with the hidden rule",
    "verdict": "judges' prediction",
    "verdict_resolved": "judges' prediction settled",
    "winners_taken": "theories kept by earlier studies read",
    "more_asked": "more participants requested",
    "consent_asked": "consent requested",
    "effects_learned": "effects estimated",
    "population_relearned": "population estimated again",
}
"""Names of kinds of records whose own name does not say what happened."""
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "theory": (
        "theory_checked", "theory_admitted", "theory_failed", "draws_limited", "theory_compared", "theory_scored",
        "search_finished",
        "successor_tried", "drafts_screened", "analysis_made", "successors_proposed",
        "theories_mapped", "claim_audited", "completeness_measured",
    ),
    "experiment": (
        "design_chosen", "preregistration", "recruited", "more_asked", "consent_asked", "answers_arrived",
        "session_held", "model_takes_part", "person_excluded", "collection_closed", "trials_collected",
        "sealed_opened",
    ),
    "diagnosis": ("diagnosis", "case_read", "exactness_weighed"),
    "judge": (
        "epoch_opened", "verdict", "verdict_resolved", "critic_answered", "candidate_decided", "anchor_taken",
        "anchor_exposed", "judge_bred", "judge_seated", "pair_described",
        "measured", "epoch_frozen", "gate_registered", "gate_decided", "epoch_committed",
        "epoch_refilled",
    ),
    "model": ("language_model_called", "tool_called", "investigated", "role_answered", "models_chosen",
              "budget_raised"),
    "erasure": ("tombstone", "person_withdrawn", "erased", "rows_erased"),
    "verdict": ("campaign_started", "leader_followed", "cycle_closed", "concluded", "confirmation_finished",
                "exclusion_sensitivity", "groups_compared",
                "effects_learned",
                "truth_compared", "fold_finished"),
}  # fmt: skip
"""Groups of kinds of records by their subject, for their colour."""
GROUP_OF: Final = {kind: group for group, kinds in GROUPS.items() for kind in kinds}
TELLING: Final = (
    "text",
    "statement",
    "consequence",
    "reason",
    "name",
    "subject",
    "mistake",
    "outcome",
    "tool",
    "task",
)
"""Fields that say most about a record of a kind that has no line of its own."""


def group_of(kind: str) -> str:
    """Return the group of a kind of record; ``memory`` for all that memory keeps, ``other`` for unlisted kinds."""
    from lakatos.memory.library import RECORDS
    from lakatos.memory.record import MEMORY_RECORDS

    return GROUP_OF.get(kind) or (
        "memory"
        if kind in RECORDS or kind in MEMORY_RECORDS
        else "step"
        if kind == INTENT
        else "other"
    )


def kind_words(kind: str) -> str:
    """Name of a kind of record."""
    return KINDS.get(kind) or kind.replace("_", " ")


def meaning(kind: str) -> str:
    """State the meaning of a record of this kind, in a sentence."""
    if kind == INTENT:
        return "A step was begun, or a note of it while it ran; its result is a record of its own."
    record = RECORD_TYPES.get(kind) or OWN_TYPES.get(kind)
    return (
        (record.__doc__ or "").strip().split("\n")[0]
        if record
        else "A kind that this version does not know."
    )


class RecordWords:
    """Tells records of one run.

    Args:
        reading: The run.
        name_of: How a theory is called.
    """

    def __init__(self, reading: RunReading, name_of: Callable[[Digest], str]) -> None:
        self.simulated = reading.simulated
        self.renamed = partial(in_new_names, reading.state.theories)
        self._name_of = name_of

    def sentence(self, kind: str, body: Mapping[str, Any]) -> str:
        """A record in a line, by its kind and its contents; empty where it says nothing in words."""
        if kind in _SENTENCES:
            return _SENTENCES[kind](body, self)
        found = [str(body[field]) for field in TELLING if body.get(field)]
        return "; ".join(found[:2])

    def theory(self, body: Mapping[str, Any], field: str = "theory") -> str:
        """The theory that a field names."""
        return self._name_of(body[field])


def summary(reading: RunReading, kind: str, body: Mapping[str, Any], name: str = "") -> str:
    """An event in a line; empty where it cannot be told."""
    try:
        if kind == INTENT:
            note = body.get("note")
            note_words = f": {json.dumps(note, ensure_ascii=False)}" if note else ""
            return shortened(f"{STEPS.get(name, name)}{note_words}", 220)
        words = RecordWords(reading, lambda theory: reading.label(theory).short)
        return shortened(words.sentence(kind, body), 220)
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        return ""


def words_of(reading: RunReading, kind: str, body: Mapping[str, Any]) -> str:
    """A record in full words, theories by their whole names."""
    words = RecordWords(reading, lambda theory: reading.label(theory).name)
    return words.sentence(kind, body) or kind_words(kind)


Body = Mapping[str, Any]


def _checked(body: Body, words: RecordWords) -> str:
    if not body["passed"]:
        return f"{words.theory(body)} was refused: {body['reason']}"
    return f"{words.theory(body)} passed the checks: {body['claim']}"


def _scored(body: Body, words: RecordWords) -> str:
    how, units = next((how, body[field]) for field, how in _SCORED.items() if body.get(field))
    mean = sum(units["log_predictive"]) / sum(units["n_choices"])
    # The name, which may be long, stands last: it may be cut.
    return (
        f"experiment {experiment_in_words(body['experiment'])}: score {fixed(mean)} nats per choice ({how}) of "
        f"{words.theory(body)}"
    )


_SCORED = {
    "frozen": "frozen predictions",
    "left_out": "parameters estimated from other data",
    "declared": "declared ranges of parameters",
}
"""Origin of the predictions that a score is of, by its field; the strictest first."""


def _sealed_scored(body: Body, words: RecordWords) -> str:
    total = sum(sum(one["log_predictive"]) for one in body["scores"])
    mean = total / sum(sum(one["n_choices"]) for one in body["scores"])
    return f"sealed trials: score {fixed(mean)} nats per choice of {words.theory(body)}"


def _followed(body: Body, words: RecordWords) -> str:
    leader = words.theory(body, "leader")
    if body["moved"] is None:
        return f"predictions of the leading theory kept for comparison: {leader}"
    return (
        f"predicted proportions of the leading theory changed by {body['moved']:.3f} (root mean square) since the last "
        f"cycle: {leader}"
    )


def _compared_with_truth(body: Body, words: RecordWords) -> str:
    nearest = min(body["pool"], key=lambda theory: body["pool"][theory])
    return (
        f"closest to the hidden rule, with a mean squared error of {body['pool'][nearest]:.5f}: "
        f"{words.theory({'theory': nearest})}"
    )


def _designed(body: Body, words: RecordWords) -> str:
    if not body["accepted"]:
        return f"experiment {experiment_in_words(body['experiment'])} was refused: {body['reason']}"
    people = plural(body["n_participants"], "participant")
    trials = plural(body["n_trials"], "trial")
    return f"experiment {experiment_in_words(body['experiment'])} with {trials} for {people} was designed"


def _collected(body: Body, words: RecordWords) -> str:
    one, many = (
        ("simulated participant", "simulated participants")
        if words.simulated
        else ("participant", "participants")
    )
    if model := body.get("language_model"):
        one, many = (
            f"session of the language model {model}",
            f"sessions of the language model {model}",
        )
    who = plural(body["n_participants"], one, many)
    return f"{plural(body['n_responses'], 'response')} of {who} to experiment {experiment_in_words(body['experiment'])}"


def _recruited(body: Body, words: RecordWords) -> str:
    of, n = experiment_in_words(body["experiment"]), body["n_participants"]
    if body["source"] == ARCHIVAL:
        return f"existing responses of {plural(n, 'participant')} were assigned to experiment {of}"
    return f"{plural(n, 'participant was', 'participants were')} recruited for experiment {of} ({body['source']})"


def _arrived(body: Body, words: RecordWords) -> str:
    who = f"participant {body['person'][:8]}"
    if body.get("source") == LANGUAGE_MODEL:
        who = "a language model's session"
    status = body["status"].replace("_", " ")
    answers = plural(body["n_answers"], "response")
    return f"{answers} of {who} to experiment {experiment_in_words(body['experiment'])} ({status})"


def _lost(body: Body, words: RecordWords) -> str:
    loser, leader = words.theory(body, "loser"), words.theory(body, "leader")
    return f"{loser} scored below {leader}: {body['location']}"


def _searched(body: Body, words: RecordWords) -> str:
    why = f" ({body['unspent']})" if body.get("unspent") else ""
    tried = f"{plural(body['n_attempts'], 'composition')} tried{why}"
    return f"{tried}, {len(body['submissions'])} submitted"


def _judged(body: Body, words: RecordWords) -> str:
    candidate, incumbent = words.theory(body, "candidate"), words.theory(body, "incumbent")
    return f"judges predicted with probability {body['probability']:.2f} that {candidate} improves on {incumbent}"


def _settled(body: Body, words: RecordWords) -> str:
    side = "for" if body["favoured"] else "against"
    return f"experiment {experiment_in_words(body['experiment'])} was evidence {side} the candidate"


def _closed(body: Body, words: RecordWords) -> str:
    stop = f"; {words.renamed(body['stop'])}" if body["stop"] else ""
    return f"cycle {body['cycle']} ended with {words.theory(body, 'leader')} leading{stop}"


def _asked(body: Body, words: RecordWords) -> str:
    tokens = body["n_prompt_tokens"] + body["n_completion_tokens"]
    return f"{body['model']} as {body['role']}: {body['outcome']}, {plural(tokens, 'token')}"


def _decided(body: Body, words: RecordWords) -> str:
    return f"{words.theory(body, 'candidate')}: {body['action']}. {body['text']}"


def _called(body: Body, words: RecordWords) -> str:
    return f"{body['tool']} {body['outcome']}" + (f": {body['reason']}" if body["reason"] else "")


def _displaced(body: Body, words: RecordWords) -> str:
    return f"epoch {body['epoch']} ended: {', '.join(body['changed']) or 'no judge'} displaced"


_SENTENCES: Mapping[str, Callable[[Body, RecordWords], str]] = {
    "campaign_started": lambda body, words: (
        f"study {body['config']['name']}: {body['config']['question']}"
    ),
    "machine_used": lambda body, words: (
        f"computed with {', '.join(body['kernels'])} on {body['processor']} from here on"
    ),
    "analyses_noted": lambda body, words: (
        f"the same responses were analysed in {plural(body['n_runs'], 'other run')} before the verdict"
    ),
    "theory_checked": _checked,
    "theory_admitted": lambda body, words: (
        f"{words.theory(body)} entered the pool: {body['reason']}"
    ),
    "draws_limited": lambda body, words: (
        f"{words.theory(body)} failed with {body['n_draws']} draws; its score with {body['kept']} stays: "
        f"{body['reason']}"
    ),
    "theory_failed": lambda body, words: f"{words.theory(body)} failed: {body['reason']}",
    "theory_compared": lambda body, words: f"{words.theory(body)}: {body['text']}",
    "theory_scored": _scored,
    "sealed_scored": _sealed_scored,
    "theory_fitted": lambda body, words: f"parameters estimated: {words.theory(body)}",
    "population_relearned": lambda body, words: (
        f"parameters estimated again, from all responses: {words.theory(body)}"
    ),
    "theories_told": lambda body, words: (
        f"final names and claims of {plural(len(body['names']), 'theory')}"
    ),
    "theories_mapped": lambda body, words: (
        f"map of {plural(len(body['theories']), 'theory')} by their predictions"
    ),
    "theory_won": lambda body, words: f"kept for later studies: {body['name']}",
    "leader_followed": _followed,
    "truth_compared": _compared_with_truth,
    "design_chosen": _designed,
    "preregistration": lambda body, words: (
        f"experiment {experiment_in_words(body['experiment'])}: predictions of "
        f"{plural(len(body['rivals']), 'theory')} frozen"
    ),
    "recruited": _recruited,
    "trials_collected": _collected,
    "sealed_opened": lambda body, words: (
        f"{plural(body['n_responses'], 'response')} to {plural(body['n_trials'], 'sealed trial')}"
    ),
    "answers_arrived": _arrived,
    "diagnosis": _lost,
    "search_finished": _searched,
    "verdict": _judged,
    "verdict_resolved": _settled,
    "candidate_decided": _decided,
    "critic_answered": lambda body, words: (
        f"{body['critic']} on {words.theory(body, 'candidate')}: {body['value']:.3g}"
    ),
    "gate_decided": lambda body, words: f"{body['slot']}: {body['verdict']}; {body['reason']}",
    "epoch_committed": _displaced,
    "cycle_closed": _closed,
    "concluded": lambda body, words: str(body["text"]),
    "language_model_called": _asked,
    "lessons_recalled": lambda body, words: (
        f"{plural(len(body['lessons']), 'lesson')} for {body['stage']}: {body['situation']}"
    ),
    "tool_called": _called,
    "tombstone": lambda body, words: f"a record was erased: {body['reason']}",
    "erased": lambda body, words: (
        f"a {(body['was'] + ' record').replace('_', ' ').strip()}, erased with the responses that it was computed from"
    ),
    "rows_erased": lambda body, words: (
        f"{plural(sum(last - first + 1 for first, last in body['rows']), 'event')} erased, with their names and times"
    ),
}
"""Functions that describe a record of each kind in a line."""
