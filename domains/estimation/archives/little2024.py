"""Functions estimated from 6 or 24 points: Little, Shiffrin and Laham (2024).

People drew a curve through the points; the file has its height at some of 40 places from -1 to 1. Asked beyond the ends
of a curve it repeats the end, which is read once. Answers of one person to one graph are of one curve and thus not
independent. Two experiments: graphs with 6 points and with 24, 12 of each. The folder holds four fifths of the people.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from lakatos.domains.estimation.task import SCALE, asked
from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.domains.kit.packed import gzip_lines, read_session
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

FILE = "prompts.jsonl.gz"
EXPERIMENTS = {"sparse": 6, "dense": 24}
"""Points of a graph, by the name of the experiment."""
N_PLACES = 40
Graph = tuple[tuple[float, float], ...]
EstimatedPoint = tuple[Graph, float, float]
"""Points of the graph, the place asked for, and the height that was answered."""
_TASK = re.compile(r"^In task \d+, the [a-z-]+ input-output pairs [^\n]*:$", re.MULTILINE)
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"
_POINT = re.compile(rf"^x={_NUMBER}, y={_NUMBER}$", re.MULTILINE)
_ANSWER = re.compile(rf"^x={_NUMBER}, you predict y = <<{_NUMBER}>>\.$", re.MULTILINE)


def read(folder: Path) -> tuple[Trials, ...]:
    """Two experiments, one for each number of points.

    Raises:
        DataMissingError: The file is not in ``folder``.
        TrialsError: It is not as described; the message names the line.
    """
    path = folder / FILE
    people = [read_record(line, f"{path}, line {number}") for number, line in gzip_lines(path)]
    return tuple(_trials(name, n_points, people) for name, n_points in EXPERIMENTS.items())


def read_record(line: str, where: str) -> list[EstimatedPoint]:
    """One person's answers in their order; one of the people has none.

    Raises:
        TrialsError: Something in it is not as described; the message says what.
    """
    text = read_session(line, where)["text"]
    answers: list[EstimatedPoint] = []
    for number, task in enumerate(_TASK.split(text)[1:], start=1):
        graph = tuple((float(x), float(y)) for x, y in _POINT.findall(task))
        if len(graph) not in EXPERIMENTS.values():
            raise TrialsError(f"{where}: graph {number} has {len(graph)} points, not 6 or 24.")
        found = _ANSWER.findall(task)
        if not found or len(found) != task.count("<<"):
            raise TrialsError(f"{where}: an answer to graph {number} is no number.")
        heights = dict.fromkeys(found)  # the end of a curve is repeated with the same numbers
        answers += [(graph, _nearest_place(float(x)), float(y)) for x, y in heights]
    return answers


def _nearest_place(x: float) -> float:
    """The nearest place at which curves were measured, to within the width of a line on the screen."""
    step = 2 / (N_PLACES - 1)
    return float(round(-1 + step * round((x + 1) / step), 4))


def _trials(name: str, n_points: int, people: list[list[EstimatedPoint]]) -> Trials:
    rows = [
        (person, graph, place, height)
        for person, own in enumerate(people)
        for graph, place, height in own
        if len(graph) == n_points
    ]
    if not rows:
        raise TrialsError(f"no graph with {n_points} points was answered.")
    trial_of: dict[tuple[Graph, float], int] = {}
    trial = [trial_of.setdefault((graph, place), len(trial_of)) for _, graph, place, _ in rows]
    there, participant = np.unique([row[0] for row in rows], return_inverse=True)
    return Trials(
        experiment=name,
        stimuli=asked([graph for graph, _ in trial_of], [place for _, place in trial_of]),
        participant=participant.astype(np.int64),
        trial=np.array(trial, dtype=np.int64),
        response=SCALE.outcomes_of([row[3] for row in rows]),
        count=np.ones(len(rows), dtype=np.int64),
        n_options=SCALE.n_outcomes,
        n_people=len(there),
    )


READER = ArchiveReader(
    name="estimation_little2024",
    domain="estimation",
    title="Little et al. (2024): functions estimated from 6 or 24 noisy points",
    source=ArchiveSource(
        repository="marcelbinz/Psych-201",
        commit="c63dea18897393b706227b50024b27fa8d8907d8",
        folder="little2024functionestimation",
        licence="Apache-2.0",
        cite=(
            "Little, D. R., Shiffrin, R. M., & Laham, S. M. (2024). Function estimation: quantifying individual "
            "differences of hand-drawn functions. Memory & Cognition. Original data: "
            "https://github.com/knowlabUnimelb/FUNCTION_ESTIMATION"
        ),
        files={FILE: "96cfb0c4578f29945072b44db5cdead206fae571f38529c45ed37b9983fb31d4"},
        remote={},
    ),
    read=read,
)
