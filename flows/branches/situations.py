"""Recorded situations, put again to any model or search strategy, and compared with how it went the last time.

A *regression set* holds what every model that takes a role must do; less than all of it is a fault. A *capability set*
is hard, and may fail: it says what a model or a strategy can do beyond that. Every answer is judged by checks that need
no opinion: its form, its citations, its numbers, whether its source is a theory, and how well that predicts answers.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.task import Trials
from lakatos.flows.branches.process import shown_in
from lakatos.flows.branches.rates import ReplayArm
from lakatos.flows.errors import StudyError
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.judges.paired import exact_p
from lakatos.language_models.client import LanguageModel, ModelRequest
from lakatos.language_models.errors import LanguageModelError
from lakatos.language_models.quotes import check_answer, sentences
from lakatos.language_models.record import LanguageModelCalled
from lakatos.language_models.structured import MisreadAnswerError, answer_schema, parse
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief, SearchStart
from lakatos.theories.discovery.roles.answer import Audit, CaseReading, Steelman, Successor
from lakatos.theories.discovery.roles.record import RoleAnswered
from lakatos.theories.discovery.roles.tryout import program_of, try_program
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json, digest_of
from lakatos.traces.files import read_named
from lakatos.traces.step import Trace

FOLDER = Path(__file__).resolve().parent / "sets"
N_DRAWS = 64
"""Number of draws with which theories are fitted to the responses of a situation."""
SETS = ("regression", "capability")
ANSWERS: dict[str, type[BaseModel]] = {
    item.__name__: item for item in (CaseReading, Steelman, Successor, Audit)
}
Check = Literal["readable", "borne_out", "is_theory", "predicts"]
"""The answer has the form; all statements agree with what they cite; its source passes every check of theories; that
predicts the situation's answers at least so well."""


class EvaluationSituation(BaseModel):
    """A situation in which a role or a search is graded, and what it must do."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    kind: Literal["role", "search"]
    domain: str
    checks: tuple[Check, ...] = ()
    request: ModelRequest | None = None
    """Request to a role, with its rules."""
    answer: str = ""
    """Name of the type in `ANSWERS`."""
    trials: tuple[dict[str, Any], ...] = ()
    """Tables of answers that a theory is to predict."""
    starts: tuple[str, ...] = ()
    """Published theories that a search sets out from."""
    n_candidates: int = 0
    """Maximum number of candidates of a search."""
    least: float | None = None
    """Criterion that is good enough, nats per choice."""
    seed: int = 0


@dataclass(frozen=True)
class GradedSituation:
    """How one situation went: whether it passed, and why not."""

    name: str
    passed: bool
    reason: str
    """Why not; empty where it passed."""


@dataclass(frozen=True, repr=False)
class SituationComparison(Result):
    """A set, put to one subject, next to the last time."""

    subject: str
    kind: str
    set_digest: str
    graded: tuple[GradedSituation, ...]
    before: tuple[GradedSituation, ...] | None
    """The last time the same situations were put, to whomever; None for the first time."""
    before_subject: str = ""

    @property
    def arm(self) -> ReplayArm:
        """Count of the situations that passed, to be compared with another count."""
        return ReplayArm(sum(item.passed for item in self.graded), len(self.graded))

    @property
    def changed(self) -> tuple[list[str], list[str]]:
        """Situations that passed only now, and only before."""
        then = {item.name: item.passed for item in self.before or ()}
        now = {item.name: item.passed for item in self.graded}
        gained = [name for name, passed in now.items() if passed and not then.get(name, True)]
        return gained, [
            name for name, passed in now.items() if not passed and then.get(name, False)
        ]

    @property
    def p_value(self) -> float | None:
        """Two-sided exact paired test of both times; None without a baseline."""
        if self.before is None:
            return None
        gained, lost = map(len, self.changed)
        return min(1.0, 2 * min(exact_p(gained, lost), exact_p(lost, gained)))

    @property
    def exit_status(self) -> int:  # type: ignore[override]
        """1 where the regression set is not passed whole."""
        return 1 if self.kind == "regression" and self.arm.n_successes < self.arm.n else 0

    def lines(self) -> Iterator[Shown]:
        """Lines of the result, beside its comparison."""
        low, high = self.arm.interval()
        yield (
            f"[bold]{escape(self.kind)}[/bold], {escape(self.subject)}: {self.arm.n_successes} of {self.arm.n} passed "
            f"(95% interval {low:.0%} to {high:.0%})"
        )
        for item in self.graded:
            mark = "[green]passed[/green]" if item.passed else "[red]failed[/red]"
            yield (
                f"  {mark}  {escape(item.name)}"
                + (f": {escape(item.reason[:200])}" if item.reason else "")
            )
        if self.before is not None:
            gained, lost = self.changed
            n_before = sum(item.passed for item in self.before)
            yield (
                f"the last time ({escape(self.before_subject)}): {n_before} passed; now "
                f"also {', '.join(gained) or 'none'}, no longer {', '.join(lost) or 'none'} (p = {self.p_value:.3g})"
            )


def read_set(name: str | Path) -> tuple[EvaluationSituation, ...]:
    """The situations of a set that comes with the laboratory, or of a file.

    Raises:
        StudyError: There is no such set, or the file is none.
    """
    path = FOLDER / f"{name}.json.gz" if str(name) in SETS else Path(name)
    try:
        value = json.loads(read_named(path, 2**28))
        found = tuple(
            EvaluationSituation.model_validate_json(canonical_json(item))
            for item in value["situations"]
        )
    except OSError as error:
        raise StudyError(
            f"cannot read the set {name}: {error.strerror or error}; there are {', '.join(SETS)}, or name a file."
        ) from None
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError) as error:
        raise StudyError(
            f"{path} is no set of situations ({str(error).splitlines()[0]})."
        ) from None
    if len({item.name for item in found}) < len(found) or not found:
        raise StudyError(
            f"{path} holds no situation, or two of one name; give each a name of its own."
        )
    return found


def write_set(situations: Sequence[EvaluationSituation], path: Path) -> None:
    """Write a set as a file that `read_set` reads."""
    value = {"situations": [item.model_dump(mode="json") for item in situations]}
    data = canonical_json(value)
    write_whole(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def situations_of(folder: Path) -> tuple[EvaluationSituation, ...]:
    """The situations that roles were in during a run, each with the checks that its answer went through there.

    Raises:
        RunMissingError: There is no run.
        StudyError: No role was asked in it.
    """
    check_run(folder)
    found: dict[str, EvaluationSituation] = {}
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        domain = trace.journal.meta["study"]["domain"]
        names = {"arbiter": CaseReading, "steelman": Steelman, "reviser": Successor, "repair": Successor,
                 "auditor": Audit}  # fmt: skip
        for item in trace.records(RoleAnswered):
            record = item.record
            if record.task not in names or not record.calls:
                continue
            call = trace.get(record.calls[0], LanguageModelCalled)
            request = ModelRequest.model_validate(trace.artifacts.get_json(call.request))
            checks: tuple[Check, ...] = ("readable",)
            if names[record.task] in (CaseReading, Steelman):
                checks = ("readable", "borne_out")
            elif names[record.task] is Successor:
                checks = ("readable", "is_theory")
            name = f"{record.task}-{record.cycle}-{record.subject[:12]}"
            found[name] = EvaluationSituation(
                name=name,
                kind="role",
                domain=domain,
                checks=checks,
                request=request,
                answer=names[record.task].__name__,
            )
    if not found:
        raise StudyError(
            f"no language model took a role in {folder}, so there is no situation to record."
        )
    return tuple(found.values())


async def put_to_model(
    situations: Sequence[EvaluationSituation], model: LanguageModel
) -> tuple[GradedSituation, ...]:
    """Ask a model in every situation of a role, and judge its answers.

    Raises:
        StudyError: No situation is one of a role.
    """
    roles = [item for item in situations if item.kind == "role"]
    if not roles:
        raise StudyError("the set holds no situation of a role; put it to a strategy.")
    graded = []
    with _DomainLaboratories() as laboratory:
        for item in roles:
            assert item.request is not None
            answer_type = ANSWERS[item.answer]
            asked = item.request.model_copy(
                update={"answer_schema": answer_schema(answer_type), "seed": item.seed or 1}
            )
            try:
                value = parse(await model.complete(asked), answer_type)
            except MisreadAnswerError as problem:
                graded.append(
                    GradedSituation(item.name, False, f"{problem.reason}: {problem.detail}")
                )
                continue
            except LanguageModelError as error:
                graded.append(GradedSituation(item.name, False, f"{type(error).__name__}: {error}"))
                continue
            problem_found = await asyncio.to_thread(_judge, item, value, laboratory)
            graded.append(GradedSituation(item.name, not problem_found, problem_found))
    return tuple(graded)


def put_to_strategy(
    situations: Sequence[EvaluationSituation], advocate: Callable[[str], GrammarAdvocate]
) -> tuple[GradedSituation, ...]:
    """Have an advocate search in every situation of a search, and judge the best of what it submits.

    Args:
        situations: Those of roles are passed over.
        advocate: Makes one for a domain.

    Raises:
        StudyError: No situation is one of a search.
    """
    searches = [item for item in situations if item.kind == "search"]
    if not searches:
        raise StudyError("the set holds no situation of a search; put it to a model.")
    graded = []
    with _DomainLaboratories() as laboratory:
        for item in searches:
            family, lab = FAMILIES[item.domain], laboratory(item.domain)
            trials = [Trials.from_json(table) for table in item.trials]
            starts = tuple(SearchStart(None, family.seeds[name][1]) for name in item.starts)
            brief = AdvocateBrief(starts=starts, n_candidates=item.n_candidates, n_successors=1)
            own = advocate(item.domain)

            def fit(
                asked: Any, lab: Laboratory = lab, trials: Any = trials, own: GrammarAdvocate = own
            ) -> list[EvaluatedComposition | Any]:
                return lab.evaluate(own.grammar, asked, trials, n_draws=N_DRAWS)

            proposal = own.revise(brief, fit, np.random.default_rng(item.seed))
            best = max((attempt.criterion for attempt in proposal.submitted), default=-np.inf)
            passed = item.least is not None and best >= item.least
            graded.append(
                GradedSituation(
                    item.name,
                    passed,
                    "" if passed else f"criterion {best:.4f}, wanted {item.least}",
                )
            )
    return tuple(graded)


class _DomainLaboratories:
    """One laboratory for each domain, made when it is first wanted."""

    def __init__(self) -> None:
        self._made: dict[str, Laboratory] = {}

    def __enter__(self) -> Callable[[str], Laboratory]:
        return self._of

    def __exit__(self, *exception: object) -> None:
        for laboratory in self._made.values():
            laboratory.close()

    def _of(self, domain: str) -> Laboratory:
        if domain not in self._made:
            self._made[domain] = Laboratory(DOMAINS[domain], 1)
        return self._made[domain]


def _judge(
    item: EvaluationSituation, value: BaseModel, laboratory: Callable[[str], Laboratory]
) -> str:
    """Why an answer does not pass; empty if it does."""
    if "borne_out" in item.checks and item.request is not None:
        shown = shown_in(item.request)
        for statement in _statements(value):
            marks = " ".join(statement.cites)
            text = " ".join(f"{sentence} {marks}" for sentence in sentences(statement.text))
            if wrong := check_answer(text, (), shown):
                return f"{wrong[0].kind}: {wrong[0].said!r}: {wrong[0].problem}"
    if isinstance(value, Successor) and {"is_theory", "predicts"} & set(item.checks):
        return _judge_source(item, value, laboratory(item.domain))
    return ""


def _judge_source(item: EvaluationSituation, value: Successor, laboratory: Laboratory) -> str:
    program = program_of(value, "challenged", ())
    if "predicts" not in item.checks:
        try:
            laboratory.check(program)
        except TheoryError as error:
            return f"{type(error).__name__}: {error}"
        return ""
    trials = [Trials.from_json(table) for table in item.trials]
    tried = try_program(
        program,
        lambda item: laboratory.check(item, max((part.stimuli for part in trials), key=len)),
        lambda checked: laboratory.evaluate_program(checked, trials, n_draws=N_DRAWS),
        GrammarAdvocate(FAMILIES[item.domain].grammar),
        (),
    )
    if tried.criterion is None:
        return tried.reason
    if item.least is not None and tried.criterion < item.least:
        return f"criterion {tried.criterion:.4f}, wanted {item.least:.4f}"
    return ""


def _statements(value: BaseModel) -> Iterator[Any]:
    yield from getattr(value, "statements", getattr(value, "case", ()))


def compare(
    kind: str,
    subject: str,
    situations: Sequence[EvaluationSituation],
    graded: Sequence[GradedSituation],
    log: Path,
) -> SituationComparison:
    """Write down how a set went, and compare with the last time that these situations were put.

    Args:
        kind: Name of the set.
        subject: Who was asked.
        situations: That were put.
        graded: How it went.
        log: JSON lines, one for each time; appended to.

    Raises:
        StudyError: The log cannot be read.
    """
    names = {item.name for item in graded}
    put = digest_of([item.model_dump(mode="json") for item in situations if item.name in names])
    before: dict[str, Any] | None = None
    try:
        data = read_named(log, 2**28) if log.exists() else b""
    except OSError as error:
        raise StudyError(
            f"cannot read the log {log}: {error.strerror}; name another --log."
        ) from None
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            past = json.loads(line)
            if past["set_digest"] == put:
                before = past
        except (ValueError, KeyError, TypeError):
            raise StudyError(
                f"line {number} of {log} is no result of an earlier time; name another --log."
            ) from None
    found = SituationComparison(
        subject=subject,
        kind=kind,
        set_digest=put,
        graded=tuple(graded),
        before=None
        if before is None
        else tuple(GradedSituation(**item) for item in before["graded"]),
        before_subject="" if before is None else before["subject"],
    )
    now = {
        "time_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "subject": subject,
        "kind": kind,
        "set_digest": put,
        "graded": [vars(item) for item in graded],
    }
    log.parent.mkdir(parents=True, exist_ok=True)
    write_whole(log, data + canonical_json(now) + b"\n")
    return found
