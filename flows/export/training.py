"""What a run teaches a language model: examples, preferences and credited steps, as JSON lines with a data card.

- *Examples*: requests and answers that passed everything they were held against.
- *Preferences*: two answers to one request of which one passed its checks and the other did not, or of which one made
  the better theory. A repair counts as the better answer to the first request.
- *Trajectories*: from a request over its checks, its repair and its admission to the next people's answers. A step's
  credit is how much it raised the share of trajectories that end well: the value of a state is the mean outcome of all
  trajectories of the run that pass through it. Recoveries are marked. What was cut off (the limit of tokens, the
  budget, a server, or a campaign that ended before anybody could tell) is masked: it has no credit, good or bad.

Only records that hold are used, so that nothing rests on answers that were withdrawn.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from lakatos.flows.errors import ExportError
from lakatos.flows.export.selection import ExportSelection, selected
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.language_models.client import ModelCompletion, ModelRequest
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.discovery.roles.record import CaseRead, RoleAnswered, SuccessorTried
from lakatos.theories.engine.record import TheoryAdmitted
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest

CUT = frozenset(
    {"truncated", "runaway", "repetitive", "empty", "no_answer", "out_of_budget", "too_long"}
)
"""Outcomes of an attempt that was cut off, or never made."""
Line = dict[str, Any]


@dataclass(frozen=True)
class TrainingData:
    """Lines of the three files."""

    supervised: tuple[Line, ...]
    preferences: tuple[Line, ...]
    trajectories: tuple[Line, ...]
    n_calls: int
    n_masked: int
    """Steps without credit."""
    n_recoveries: int


def write_training(folder: Path, out: Path) -> list[Path]:
    """Write ``supervised.jsonl``, ``preferences.jsonl``, ``trajectories.jsonl`` and a data card, ``README.md``.

    Raises:
        RunMissingError: There is no run.
        ExportError: No language model was asked in it.
    """
    with selected(folder) as chosen:
        data = training_data(chosen)
        if not data.n_calls:
            raise ExportError(
                f"{folder} has no calls of language models, so there is nothing to learn from."
            )
        card = _card(chosen, data)
    written = [out / f"{name}.jsonl" for name in ("supervised", "preferences", "trajectories")]
    for path, name in zip(written, ("supervised", "preferences", "trajectories"), strict=True):
        lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in getattr(data, name))
        write_whole(path, lines.encode())
    write_whole(out / "README.md", card.encode())
    return [*written, out / "README.md"]


def training_data(chosen: ExportSelection) -> TrainingData:
    """All three kinds of lines."""
    known = _TrainingRecords(chosen)
    trajectories = list(_credited([_trajectory(known, attempts) for attempts in known.attempts()]))
    steps = [step for line in trajectories for step in line["steps"]]
    return TrainingData(
        supervised=tuple(_supervised(known)),
        preferences=tuple(_preferences(known)),
        trajectories=tuple(trajectories),
        n_calls=len(known.calls),
        n_masked=sum(step["masked"] for step in steps),
        n_recoveries=sum(step["recovery"] for step in steps),
    )


class _TrainingRecords:
    """The records of a selection that matter here."""

    def __init__(self, chosen: ExportSelection) -> None:
        self.chosen = chosen
        self.calls: dict[Digest, LanguageModelCalled] = {}
        self.answers: list[tuple[Digest, RoleAnswered]] = []
        self.tried: dict[Digest, SuccessorTried] = {}
        self.read: list[tuple[tuple[Digest, ...], CaseRead]] = []
        self.admitted: set[Digest] = set()
        self.verdicts: dict[Digest, Digest] = {}
        self.won: dict[Digest, bool] = {}
        for event in chosen.events:
            record = chosen.record(event)
            match record:
                case LanguageModelCalled():
                    self.calls[event.record_digest] = record
                case RoleAnswered():
                    self.answers.append((event.record_digest, record))
                case SuccessorTried():
                    self.tried[record.answer] = record
                case CaseRead():
                    self.read.append((event.inputs, record))
                case TheoryAdmitted():
                    self.admitted.add(record.theory)
                case Verdict():
                    self.verdicts[event.record_digest] = record.candidate
                case VerdictResolved() if record.verdict in self.verdicts:
                    self.won[self.verdicts[record.verdict]] = record.favoured
                case _:
                    pass

    def attempts(self) -> Iterator[list[tuple[Digest, RoleAnswered]]]:
        """Answers that write a theory with the repairs of them, cycle by cycle and lens by lens."""
        found: dict[tuple[int, str], list[tuple[Digest, RoleAnswered]]] = defaultdict(list)
        for digest, record in self.answers:
            if record.task in ("reviser", "repair"):
                found[record.cycle, record.subject].append((digest, record))
        yield from found.values()

    def messages(self, call: Digest) -> list[Line]:
        """The messages that a model was asked in a call."""
        request = ModelRequest.model_validate(
            self.chosen.reading.trace.artifacts.get_json(self.calls[call].request)
        )
        return [{"role": item.role, "content": item.content} for item in request.messages]

    def completion(self, call: Digest) -> Line:
        """The answer that a model gave in a call, as a message."""
        value = self.chosen.reading.trace.artifacts.get_json(self.calls[call].completion)
        return {"role": "assistant", "content": ModelCompletion.model_validate(value).content}

    def passed(self, digest: Digest, record: RoleAnswered) -> bool | None:
        """Whether an answer passed all that it was held against; None where it was cut off."""
        if (
            record.outcome in CUT
            or not record.calls
            or any(self.calls[c].outcome in CUT for c in self._last(record))
        ):
            return None
        if record.outcome != "answered":
            return False
        if digest in self.tried:
            return self.tried[digest].outcome == "submitted"
        for inputs, read in self.read:
            if digest in inputs:
                return all(item.supported for item in read.statements)
        return True

    def _last(self, record: RoleAnswered) -> Sequence[Digest]:
        return [call for call in record.calls[-1:] if call in self.calls]

    def quality(self, digest: Digest) -> float | None:
        """How good the theory is that an answer wrote: nats per choice on the answers so far."""
        return self.tried[digest].criterion if digest in self.tried else None


def _supervised(known: _TrainingRecords) -> Iterator[Line]:
    for digest, record in known.answers:
        if known.passed(digest, record) and record.calls[-1] in known.calls:
            call = record.calls[-1]
            yield {
                "messages": [*known.messages(call), known.completion(call)],
                "metadata": _about(record) | {"record": digest, "criterion": known.quality(digest)},
            }


def _preferences(known: _TrainingRecords) -> Iterator[Line]:
    by_request: dict[Digest, list[tuple[Digest, RoleAnswered, bool]]] = defaultdict(list)
    for digest, record in known.answers:
        judged = known.passed(digest, record)
        if judged is not None and record.calls[-1] in known.calls:
            by_request[known.calls[record.calls[0]].request].append((digest, record, judged))
    for items in by_request.values():
        yield from _pairs(known, items)
    for attempts in known.attempts():
        for (first, before), (second, after) in pairwise(attempts):
            if known.passed(first, before) is False and known.passed(second, after):
                yield _pair(known, before, (second, after), (first, before), "repaired")


def _pairs(
    known: _TrainingRecords, items: Sequence[tuple[Digest, RoleAnswered, bool]]
) -> Iterator[Line]:
    """Pairs of answers to one request: what passed over what did not, and better theories over worse ones."""
    for place, (one, first, first_passed) in enumerate(items):
        for other, second, second_passed in items[place + 1 :]:
            qualities = known.quality(one), known.quality(other)
            if first_passed != second_passed:
                better = (
                    ((one, first), (other, second))
                    if first_passed
                    else ((other, second), (one, first))
                )
                yield _pair(known, first, *better, "passed its checks")
            elif first_passed and None not in qualities and qualities[0] != qualities[1]:
                ahead = (qualities[0] or 0.0) > (qualities[1] or 0.0)
                better = (
                    ((one, first), (other, second)) if ahead else ((other, second), (one, first))
                )
                yield _pair(known, first, *better, "made the better theory")


def _pair(
    known: _TrainingRecords,
    asked: RoleAnswered,
    better: tuple[Digest, RoleAnswered],
    worse: tuple[Digest, RoleAnswered],
    reason: str,
) -> Line:
    return {
        "prompt": known.messages(asked.calls[0]),
        "chosen": [known.completion(better[1].calls[-1])],
        "rejected": [known.completion(worse[1].calls[-1])],
        "metadata": _about(asked)
        | {"reason": reason, "chosen_record": better[0], "rejected_record": worse[0]},
    }


def _trajectory(known: _TrainingRecords, attempts: Sequence[tuple[Digest, RoleAnswered]]) -> Line:
    """Steps of one line of work with the states that they lead to; credit follows when all are known."""
    first = attempts[0][1]
    steps: list[Line] = []
    state, source, best = "asked", None, -math.inf
    for digest, record in attempts:
        tried = known.tried.get(digest)
        steps.append(_attempt(known, digest, record, state))
        state = steps[-1]["to"]
        if tried and tried.outcome == "submitted" and (tried.criterion or 0.0) > best:
            source, best = tried.fitted, tried.criterion or 0.0
    further, ended = ([], None) if state == "cut off" else _tested(known, source)
    return {
        "steps": [*steps, *further],
        "outcome": ended,
        "metadata": _about(first) | {"lens": first.subject, "theory": source},
    }


def _attempt(known: _TrainingRecords, digest: Digest, record: RoleAnswered, before: str) -> Line:
    """One answer as a step from the state before it to that after it."""
    tried = known.tried.get(digest)
    after = "cut off" if known.passed(digest, record) is None else _state(record, tried)
    call = record.calls[-1] if record.calls else ""
    return {
        "action": "write" if record.task == "reviser" else "repair",
        "call": call,
        "messages": known.messages(call) if call else [],
        "completion": known.completion(call) if call else None,
        "feedback": tried.reason if tried else record.reason,
        "from": before,
        "to": after,
        "recovery": is_recovery(before, after),
    }


def is_recovery(before: str, after: str) -> bool:
    """Whether a step leads from a draft that was refused, there already or unreadable to one that is fitted."""
    return after == "submitted" and before.startswith(("refused", "duplicate", "unreadable"))


def _tested(known: _TrainingRecords, source: Digest | None) -> tuple[list[Line], float | None]:
    """The fate of the best submitted theory."""
    if source is None:
        return [], 0.0
    if source not in known.admitted:
        return [_judged("not admitted")], 0.0
    won = known.won.get(source)
    said = "never tested" if won is None else "won" if won else "lost"
    return [_judged("admitted"), _judged(said, "admitted")], None if won is None else float(won)


def _state(record: RoleAnswered, tried: SuccessorTried | None) -> str:
    if tried is None:
        return "looked" if record.outcome == "answered" else f"unreadable: {record.outcome}"
    if tried.outcome == "submitted":
        return "submitted"
    return f"{tried.outcome}: {tried.reason.partition(':')[0].split(' ')[0]}"


def _judged(after: str, before: str = "submitted") -> Line:
    """A step that the laboratory took, which nobody is credited for."""
    return {"action": "laboratory", "call": "", "messages": [], "completion": None, "feedback": after, "from": before,
            "to": after, "recovery": False}  # fmt: skip


def _credited(lines: Sequence[Line]) -> Iterator[Line]:
    """Each model's step with the difference of the values of the states after and before it."""
    totals: dict[str, list[float]] = defaultdict(list)
    for line in lines:
        if line["outcome"] is not None:
            for state in {"asked", *(step["to"] for step in line["steps"])}:
                totals[state].append(line["outcome"])
    value = {state: sum(items) / len(items) for state, items in totals.items()}
    for line in lines:
        for step in line["steps"]:
            known = line["outcome"] is not None and step["to"] in value and step["from"] in value
            step["masked"] = not known or step["action"] == "laboratory"
            step["credit"] = None if step["masked"] else value[step["to"]] - value[step["from"]]
        yield line


def _about(record: RoleAnswered) -> Line:
    return {"role": record.role, "task": record.task, "cycle": record.cycle, "model": record.model}


def _table_of_files(data: TrainingData) -> str:
    """Rows of a table in Markdown: the files, their lines, and what is in them."""
    roles = Counter(line["metadata"]["task"] for line in data.supervised)
    reasons = Counter(line["metadata"]["reason"] for line in data.preferences)
    outcomes = Counter(str(line["outcome"]) for line in data.trajectories)
    asked = "`prompt`, `chosen`, `rejected`, `metadata`"
    walked = "`steps`, `outcome`, `metadata`"
    rows = [
        ("supervised.jsonl", len(data.supervised), "`messages` and `metadata`", _shown(roles)),
        ("preferences.jsonl", len(data.preferences), asked, _shown(reasons)),
        ("trajectories.jsonl", len(data.trajectories), walked, f"outcomes {_shown(outcomes)}"),
    ]
    return "\n".join(f"| {name} | {n} | {fields} | {what} |" for name, n, fields, what in rows)


def _card(chosen: ExportSelection, data: TrainingData) -> str:
    """The data card: content of the files, their origin, and their limits."""
    reading = chosen.reading
    people = (
        "simulated people"
        if reading.simulated
        else f"the language model {reading.model}"
        if reading.model
        else "people"
    )
    models = sorted({item.model for item in chosen.reading.config.models.values()})
    table = _table_of_files(data)
    return f"""# Training data from the run {chosen.folder.resolve().name}

Study: {reading.config.name} ({reading.config.domain}). Question: {reading.config.question}

| file | lines | fields | what |
| --- | --- | --- | --- |
{table}

- **Source.** {data.n_calls} recorded calls to {", ".join(models)}. The choices that settle outcomes are those of
  {people}.
- **Left out.** {chosen.n_left_out} records of the run that do not hold any more (withdrawn answers and all that rested
  on them, displaced judges) or are about somebody who withdrew. No identifier of a person is in any file; what prompts
  show of answers is shares over people.
- **Labels.** An answer passed if it could be read, its source passed the laboratory's checks, and every statement
  agrees with the records it cites. A trajectory's outcome is 1 if its theory was admitted and people's next answers
  favoured it, 0 if not, and null if nobody could tell.
- **Credit.** Value of the state after a step minus that before it; a state's value is the mean outcome of the run's
  trajectories through it. {data.n_masked} steps have no credit: cut off, undecided, or the laboratory's own.
  {data.n_recoveries} steps recovered from a refusal.
- **Not good for.** Values of states that few trajectories pass through are noise. Answers were chosen by these checks,
  in this domain; a model trained on them learns what passes here. Models answer under their own licences, which may
  forbid training other models on their answers.
"""


def _shown(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.most_common()) or "none"
