"""Theories as files: check one, import one from another program, and export one."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from rich.text import Text

from lakatos.domains import DOMAINS, open_domain
from lakatos.flows.advice import option_for_caller
from lakatos.flows.argument import Argument, Columns, RunsFolder
from lakatos.flows.notebook.answers import adopt
from lakatos.flows.notebook.asked import names_run, read_asked
from lakatos.flows.notebook.fitted import NamedTheory, find_theory, shapes_of
from lakatos.flows.notebook.likelihood import (
    Seconds,
    bounds_of,
    code_of_notebook,
    imported_likelihood,
    is_model,
    pairs,
)
from lakatos.flows.notebook.study import read_run
from lakatos.flows.operations.people_export import note_export
from lakatos.flows.result import PlainText, Result, Shown, Written
from lakatos.flows.run.places import find_run
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.check_report import CheckReport
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.likelihoods import CALL_SECONDS
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.autocog import (
    GREEDY,
    chosen_theory,
    import_autocog,
    theories_in,
)
from lakatos.theories.findings.exchange.export import exported, source_in, to_json
from lakatos.theories.findings.exchange.formula import UnwritableError
from lakatos.theories.findings.exchange.gecco import import_gecco
from lakatos.theories.findings.exchange.likelihood import Said, refuse_likelihood
from lakatos.theories.findings.exchange.standalone import source_in_function, write_function
from lakatos.theories.findings.exchange.written import PROGRAMS
from lakatos.theories.language.family import own_texts
from lakatos.theories.language.theory import TheoryProgram
from lakatos.theories.language.theory_file import read_theory_file
from lakatos.traces.artifact import write_whole

TheoryFile = str | os.PathLike[str]


@dataclass(frozen=True, repr=False)
class CheckedFile(Result):
    """Results of all checks of a theory's file, as `check` returns them."""

    report: CheckReport
    guessed: str = ""
    """The guessed kind of task, with the reason; empty if it was named."""

    @property
    def exit_status(self) -> int:  # type: ignore[override]
        """1 for a theory that failed a check, otherwise 0."""
        return 0 if self.report.passed else 1

    def lines(self) -> list[Shown]:
        """Return each check with its result."""
        guessed = [Text(self.guessed)] if self.guessed else []
        return [*guessed, Text(self.report.to_text().rstrip("\n"))]

    def to_json(self) -> dict[str, Any]:
        """Return the results as JSON values."""
        return self.report.to_json()


def check(file: TheoryFile, *, domain: str = "") -> CheckedFile:
    """Run all checks that a theory must pass before it is scored; exit status 1 if it fails one.

    Args:
        file: Source of the theory.
        domain: Kind of task that the theory is about, or the file that declares it; guessed from what it reads of
            trials by default.

    Raises:
        TheoryError: The kind of task is not named, and the attributes that the theory reads fit none, or several.

    Examples:
        $ lakatos theory check mine.py --domain intertemporal
    """
    source, guessed = read_theory_file(Path(file)), ""
    refuse_likelihood(file, source)
    if not domain:
        domain, read = guess_domain(source)
        guessed = f"checked as a theory of {domain}, since it reads {', '.join(read)}; --domain names another"
    task = open_domain(domain)
    with Sandbox(is_own=own_texts(task)) as sandbox:
        return CheckedFile(check_theory(TheoryProgram(source, "you"), task, sandbox), guessed)


def guess_domain(source: str) -> tuple[str, list[str]]:
    """Find the only kind of task whose trials have all attributes that a theory reads; return both.

    Raises:
        TheoryError: No kind of task fits, or several do.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise TheoryError(f"this is no Python that can be read: {error}.") from None
    read = sorted(
        {
            str(node.slice.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == "trials"
            and isinstance(node.slice, ast.Constant)
        }
    )
    fitting = [name for name, task in DOMAINS.items() if read and set(read) <= set(shapes_of(task))]
    if len(fitting) == 1:
        return fitting[0], read
    what = f"it reads {', '.join(read)} of trials" if read else "it reads nothing of trials by name"
    fits = f"which {' and '.join(fitting)} show" if fitting else "which no one kind of task shows"
    raise TheoryError(
        f"which kind of task the theory is about cannot be guessed: {what}{f', {fits}' if read else ''}. Name it with "
        f"{option_for_caller('domain')}: {', '.join(fitting or DOMAINS)}, or the file that declares it."
    )


def import_theory(
    file: TheoryFile,
    *,
    name: str = "",
    cues: Annotated[int | None, Argument(least=1, most=8)] = None,
    answers: TheoryFile | None = None,
    function: str = "",
    which: str = "",
    listed: Annotated[bool, Argument(flag="--list")] = False,
    likelihood: bool = False,
    argument: Annotated[Sequence[str], Argument(kind=list[str], metavar="NAME=COLUMN")] = (),
    bound: Annotated[Sequence[str], Argument(kind=list[str], metavar="NAME=LOW,HIGH")] = (),
    response: Annotated[Sequence[str], Argument(kind=list[str])] = (),
    skip: Annotated[Sequence[str], Argument(kind=list[str], metavar="COLUMN=CELL")] = (),
    participant: str = "",
    returns: str = "",
    seconds: Seconds = CALL_SECONDS,
) -> PlainText:
    """Translate a model of another program, or a likelihood function, into a theory of Lakatos, and print it.

    A study lists theories of AutoCog and GeCCo in theories.files. With --likelihood, the function of one
    participant's columns and parameters is called unchanged and checked on responses; `lakatos theory score` and
    `fit` accept the printed theory.

    Args:
        file: YAML or JSON of AutoCog, YAML of hBayesDM, a model of GeCCo, PyMC or HSSM in Python, or a likelihood
            function (.py, .ipynb).
        name: Name of the theory; its name in the file by default.
        cues: AutoCog: number of cues, if a parameter has one value for each cue.
        answers: Responses that the theory predicts: cues of AutoCog are counted in them, likelihood functions are
            checked on them.
        function: Name of the function, if the file has several; the first by default.
        which: Label of the theory, if a file of AutoCog has several.
        listed: List the theories of a file of AutoCog.
        likelihood: The file holds a function that returns the likelihood of one participant; the meaning of its
            arguments is guessed and printed.
        argument: Column of an argument of a likelihood function, if it is not guessed.
        bound: Bounds of a parameter that the file does not state.
        response: Argument that receives the responses.
        skip: Rows to exclude, such as missing responses, by a column and a value.
        participant: Column that identifies participants.
        returns: log_likelihood or negative_log_likelihood of a participant; or probabilities, log_probabilities or
            negative_log_probabilities of trials; detected by default.
        seconds: Limit of processor time in seconds for one call of a likelihood function.

    Examples:
        $ lakatos theory import model.yaml --responses responses.csv > mine.py
        $ lakatos theory import model.py --likelihood --responses responses.csv > mine.py
    """
    file = Path(file)
    text = read_theory_file(file)
    if file.suffix == ".ipynb":
        text = code_of_notebook(text)
    if (which or listed) and (likelihood or file.suffix == ".py"):
        raise TheoryError(
            "--which and --list are for files of AutoCog; --function names one of several functions."
        )
    if listed:
        return PlainText("\n".join(f"{item.label}: {item.words}" for item in theories_in(text)))
    if likelihood or is_model(file, text):
        if answers is None:
            raise TheoryError(
                "a likelihood function is tried on responses; name them with --responses."
            )
        meanings = Said(
            function=function,
            participant=participant,
            columns=pairs(argument, "--argument NAME=COLUMN"),
            bounds=bounds_of(bound),
            responses=tuple(response),
            returns=returns,
            skip=pairs(skip, "--skip COLUMN=CELL", may_be_empty=True),
        )
        found = imported_likelihood(file, text, Path(answers), meanings, seconds)
        return PlainText(found.likelihood.written(), found.notes)
    if own := source_in(text) or source_in_function(text):
        return PlainText(own)
    with Sandbox() as sandbox:
        if file.suffix == ".py":
            program = import_gecco(text, sandbox, name=name, function=function)
        else:
            n_cues = cues or (_number_of_cues(answers) if answers is not None else 0)
            program = import_autocog(chosen_theory(text, which), sandbox, name=name, n_cues=n_cues)
    notes = (GREEDY.removeprefix("# "),) if GREEDY in program.source else ()
    return PlainText(program.source, notes)


def _number_of_cues(answers: TheoryFile) -> int:
    """The number of cues of the products in responses."""
    trials = adopt(str(answers), "multiattribute").trials
    return max(int(item.stimuli["validities"].shape[1]) for item in trials)


def export_theory(
    theory: NamedTheory,
    *,
    form: Annotated[
        Literal["python", "r", "stan", "pymc", "json"], Argument(flag="--as")
    ] = "python",
    domain: str = "",
    responses: str | os.PathLike[str] | None = None,
    columns: Columns = None,
    run: str = "",
    runs: RunsFolder = "runs",
    out: str | os.PathLike[str] | None = None,
) -> PlainText | Written:
    """Write a theory for other software: Python, R, Stan, PyMC or JSON.

    Python and JSON hold the theory's own code. R, Stan and PyMC programs hold its formulas for the trials of a file of
    responses, and check their log likelihood of its first responses; the responses are written beside the program in
    the columns that it reads.

    Args:
        theory: Name of a published theory, or its file; of a run with --run.
        form: Format: python needs only NumPy; r is a likelihood function; stan and pymc are hierarchical models; json
            holds source, parameters and population.
        domain: Kind of task that the theory is about, or the file that declares it; multiattribute by default, or that
            of the responses.
        responses: For r, stan and pymc: a file of responses, a published data set, or a run; by default those of --run.
        columns: Meaning of a column of the responses, as in participant=VP; in Python a mapping, as for `adopt`.
        run: Run that holds the theory; the population distribution estimated there is used.
        runs: Folder that holds the runs.
        out: File to write; shown by default.

    Raises:
        UnwritableError: The theory cannot be written in this format; the message states the reason.

    Examples:
        $ lakatos theory export hyperbolic --domain intertemporal --out hyperbolic.py
        $ lakatos theory export hyperbolic --as stan --responses responses.csv --out hyperbolic.stan
    """
    if responses is None and form in PROGRAMS and run:
        responses = find_run(run, Path(runs))
    if (form in PROGRAMS) != (responses is not None):
        raise UnwritableError(
            f"--as {form} writes the formulas of a theory for certain trials: name a file of responses by --responses."
            if form in PROGRAMS
            else f"--as {form} holds the theory's own code, which depends on no responses: leave --responses out."
        )
    if out is not None and (Path(out).is_dir() or not Path(out).parent.is_dir()):
        raise UnwritableError(
            f"{out} is no file that can be written; name a file in a folder that exists."
        )
    answers, wanted = None, theory
    if responses is not None:
        own = [] if run else [theory]
        request = read_asked(
            responses, own, runs=runs, domain=domain, columns=columns, compared=False
        )
        answers, wanted = request.answers, (request.theories or [theory])[0]
    if run:
        fitted = read_run(run, runs=runs).theory(str(theory))
        chosen, task = fitted.theory, fitted.domain
    else:
        task = answers.domain if answers is not None else open_domain(domain or "multiattribute")
        with Laboratory(task, 1) as laboratory:
            chosen = find_theory(wanted, task, laboratory)
    if answers is None:
        text = to_json(chosen, task) if form == "json" else write_function(chosen, shapes_of(task))
        return _kept(text, out)
    if not own_texts(task)(chosen.program.source):
        raise UnwritableError(
            f"{chosen.name!r} is not composed of the package's mechanisms, and code of others runs only in a sandbox; "
            "export it as python or json."
        )
    if task.name != answers.domain.name:
        raise UnwritableError(
            f"the theory is about {task.name}, and the responses are of {answers.domain.name}; name others."
        )
    ending, write = PROGRAMS[form]
    beside = Path(out if out is not None else f"theory{ending}")
    data = beside.with_name(f"{beside.stem}_data.csv")
    if out is not None and data.exists():
        raise UnwritableError(f"{data} exists already; remove it, or give --out another name.")
    program = exported(chosen, task, answers.trials, answers.participant_names)
    text = write(program, data.name)
    notes = answers.notes
    if len(answers.trials) > 1:
        notes += (
            f"participants count once in each of {len(answers.trials)} experiments (conditions or parts of the file); "
            "the column experiment of the responses names them",
        )
    if out is None:
        return PlainText(text, notes)
    write_whole(data, pd.DataFrame(program.table).to_csv(index=False).encode())
    if isinstance(responses, str | os.PathLike) and names_run(responses, runs):
        note_export(find_run(str(responses), Path(runs)), data)
    write_whole(beside, text.encode())
    return Written(beside, data, notes=notes)


def _kept(text: str, out: str | os.PathLike[str] | None) -> PlainText | Written:
    if out is None:
        return PlainText(text)
    write_whole(Path(out), text.encode())
    return Written(out)
