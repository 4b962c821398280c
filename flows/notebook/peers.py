"""Comparison of models of other laboratories with published theories, on the same responses."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
import yaml

from lakatos.experiments.errors import ExperimentError
from lakatos.flows.argument import Argument, Columns
from lakatos.flows.errors import UnusableError
from lakatos.flows.notebook.answers import adopt, table_of
from lakatos.flows.notebook.frames import in_kind, interval_columns
from lakatos.flows.notebook.likelihood import Seconds, imported_likelihood
from lakatos.flows.notebook.theory import score
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.likelihoods import CALL_SECONDS, LikelihoodSandbox
from lakatos.theories.engine.scoring.score import mean_score
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.exchange.autocog import import_autocog, theories_in
from lakatos.theories.findings.exchange.likelihood import Said
from lakatos.theories.findings.likelihood_fit import represent_participants, score_left_out
from lakatos.theories.language.theory_file import read_theory_file

AUTOCOG_DATA = "multiattribute_autocog"
AUTOCOG_CUES = 4


@dataclass(frozen=True)
class PeerModel:
    """Model of another laboratory, with the responses to which that laboratory fits it."""

    name: str
    file: Path
    responses: Path
    said: Said = field(default_factory=Said)
    participants: frozenset[str] = frozenset()
    """Participants of the peer's own figure; empty for all."""
    published: float = np.nan
    """Mean BIC of a participant in the peer's files."""
    inputs: tuple[str, ...] = ()
    """Columns in the order of the function's arguments; empty if arguments have names."""


def compare_with(
    peer: Literal["autocog", "gecco", "hbayesdm"],
    folder: str | os.PathLike[str],
    *,
    model: Annotated[Sequence[str], Argument(kind=list[str])] = (),
    columns: Columns = None,
    seconds: Seconds = CALL_SECONDS,
) -> pd.DataFrame:
    """Compare the models of another laboratory with published theories, on the same responses.

    GeCCo and hBayesDM: each model is fitted to its own file of responses. AutoCog: the theories of the last round of
    each of its human experiments, on its published responses.

    Args:
        peer: Other laboratory.
        folder: Copy of its repository.
        model: Models to compare, by a part of their names; all by default, which can take hours.
        columns: Meaning of a column of the responses for published theories, as for `theory score`.
        seconds: Limit of processor time in seconds for one call of a model.

    Returns:
        A frame with a row for each model and each published theory: ``published`` is the peer's own figure (the mean
        BIC of a participant), ``bic`` the same computed here, ``score`` the log probability of held-out responses in
        nats per choice with a 95% interval, ``note`` the reason why the peer's figure is of other responses,
        ``refused`` the reason why there is no score.

    Raises:
        UnusableError: The folder does not hold the peer's files, or no such model.

    Examples:
        $ lakatos compare-with gecco GeCCo --model multi_attribute
    """
    place = Path(folder)
    if peer == "autocog":
        rows = list(_autocog(place, model))
    else:
        found = [*(_gecco(place) if peer == "gecco" else _hbayesdm(place))]
        wanted = [item for item in found if not model or any(own in item.name for own in model)]
        _check_found(peer, place, [item.name for item in found], bool(wanted))
        rows = [_row_of(item, peer, seconds) for item in wanted]
        for responses in dict.fromkeys(item.responses for item in wanted):
            kept = next(item.participants for item in wanted if item.responses == responses)
            rows += _published(_table(responses, kept), responses.name, columns)
    shown = ["responses", "model", "by", "n_participants", "n_responses", "published", "bic"]
    shown += ["score", "score_low", "score_high", "note", "refused"]
    table = pd.DataFrame(rows, columns=shown)
    table = table.sort_values(["responses", "score"], ascending=[True, False], kind="stable")
    return in_kind(table.reset_index(drop=True), None)


def _check_found(peer: str, folder: Path, names: Sequence[str], any_wanted: bool) -> None:
    """Refuse a folder without models, and names of models that it does not have."""
    if not names:
        raise UnusableError(
            f"{folder} holds no models of {peer}; give a copy of its repository as it is published."
        )
    if not any_wanted:
        raise UnusableError(f"{peer} has no such model; there are {', '.join(names)}.")


def _table(file: Path, participants: frozenset[str]) -> pd.DataFrame:
    """Table of responses of some participants, as text."""
    table = table_of(file).frame
    if "subjID" not in table.columns and "participant" not in table.columns:
        table = table.assign(participant="1")
    return table[table["participant"].isin(participants)] if participants else table


def _row_of(item: PeerModel, peer: str, seconds: float) -> dict[str, Any]:
    """Row of a model: its fit to its responses, and its score."""
    row: dict[str, Any] = {"responses": item.responses.name, "model": item.name, "by": peer}
    row |= {"published": item.published}
    table = _table(item.responses, item.participants)
    try:
        source = read_theory_file(item.file)
        found = imported_likelihood(item.file, source, table, item.said, seconds).likelihood
        people = found.people_in(table)
        with LikelihoodSandbox() as sandbox:
            draws = represent_participants(found, people, sandbox, seconds=seconds)
        n_responses = np.array([own.n_responses for own in draws])
        logs = np.array([own.log_likelihood for own in draws])
        row |= {
            "n_participants": len(draws),
            "n_responses": int(n_responses.sum()),
            "bic": float(np.mean(len(found.bounds) * np.log(n_responses) - 2 * logs)),
        }
        row |= interval_columns("score", mean_score([score_left_out(draws)]))
        return row | {"note": _other_order(found.columns, item.inputs)}
    except TheoryError as error:
        return row | {"refused": str(error)}


def _other_order(columns: Mapping[str, str], inputs: Sequence[str]) -> str:
    """A remark if the peer passed another column than the argument's name means; otherwise empty."""
    for (argument, column), given in zip(columns.items(), inputs, strict=False):
        if column != given:
            return f"the peer gave {argument} the column {given} and not {column}, so its figure is of other responses"
    return ""


def _published(
    answers: Any, name: str, columns: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Scores of published theories; one row with the reason if the responses belong to no known task."""
    try:
        table = score(answers, columns=columns)
    except (ExperimentError, TheoryError) as error:
        return [{"responses": name, "model": "published theories", "by": "lakatos", "refused": str(error)}]  # fmt: skip
    shown = ["score", "score_low", "score_high"]
    return [
        {"responses": name, "model": row["theory"], "by": "lakatos", **{key: row[key] for key in shown}}
        for row in table.to_dict("records")
    ]  # fmt: skip


@contextmanager
def _states(file: Path) -> Iterator[None]:
    """Refuse a file that lacks an entry which the peer's files have."""
    try:
        yield
    except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
        words = " ".join(str(error).split())[:200]
        raise UnusableError(
            f"{file} is not as the peer publishes it ({type(error).__name__}: {words})."
        ) from None


def _gecco(folder: Path) -> Iterator[PeerModel]:
    """Models of GeCCo's results whose BIC it states, with the participants on whom it was computed."""
    for file in sorted((folder / "config").glob("*.yaml")):
        with _states(file):
            config = yaml.safe_load(read_theory_file(file))
            task, data = str(config["task"]["name"]), config["data"]
            responses, own = folder / str(data["path"]), str(data["id_column"])
            chosen, inputs = data["splits"]["eval"], list(data["input_columns"])
        if folder.resolve() not in responses.resolve().parents or not responses.is_file():
            continue
        table = table_of(responses).frame
        people = [*dict.fromkeys(table[own])]
        if isinstance(chosen, str):
            low, _, high = chosen.strip("[]").partition(":")
            chosen = people[int(low or 0) : int(high) if high else None]
        marks = {name: "-1" for name in inputs if (table[name] == "-1").any()}
        for results in sorted((folder / "results" / task / "bics").glob("*.json")):
            with _states(results):
                stated = [
                    (str(item["function_name"]), float(item["metric_value"]))
                    for item in json.loads(read_theory_file(results))
                ]
            for function, metric in stated:
                yield PeerModel(
                    f"{task}/{results.stem}/{function}",
                    folder / "results" / task / "models" / f"{results.stem}.py",
                    responses,
                    Said(function, own, skip=marks),
                    frozenset(map(str, chosen)),
                    metric,
                    tuple(map(str, inputs)),
                )


def _hbayesdm(folder: Path) -> Iterator[PeerModel]:
    """Models of hBayesDM whose example responses the folder holds."""
    commons = folder / "commons"
    for file in sorted((commons / "models").glob("*.yml")):
        with _states(file):
            described = yaml.safe_load(read_theory_file(file))
            task, kind = described["task_name"]["code"], described["model_type"]["code"]
        names = [f"{task}_{kind}_exampleData.txt", f"{task}_exampleData.txt"]
        there = [commons / "extdata" / name for name in names]
        responses = next((own for own in there if own.is_file()), None)
        if responses is not None:
            yield PeerModel(file.stem, file, responses)


def _autocog(folder: Path, models: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Theories of the last rounds of AutoCog's human experiments, and the package's, on their responses."""
    rounds = sorted(folder.glob("results/human_*/*/rounds/*/theories.json"))
    last = {file.parents[2]: file for file in rounds}
    _check_found("autocog", folder, [str(own) for own in last], bool(last))
    for place, file in last.items():
        kind = place.parent.name.rpartition("_")[2]
        answers = adopt(AUTOCOG_DATA)
        trials = tuple(own for own in answers.trials if own.experiment.startswith(kind))
        answers, name = replace(answers, trials=trials), f"{AUTOCOG_DATA} {kind}"
        sources = []
        with Sandbox() as sandbox:
            for item in theories_in(read_theory_file(file)):
                label = f"{kind}/{item.label}"
                if not models or any(own in label for own in models):
                    made = import_autocog(item.value, sandbox, n_cues=AUTOCOG_CUES, name=label)
                    sources.append(made.source)
        if sources:
            for row in score(answers, sources).to_dict("records"):
                shown = {key: row[key] for key in ("score", "score_low", "score_high")}
                yield {"responses": name, "model": row["theory"], "by": "autocog", **shown}
            yield from _published(answers, name)
