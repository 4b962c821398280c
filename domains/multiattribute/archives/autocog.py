"""Choices between products rated by experts, from people recruited online for AutoCog (2026).

Ten experiments with binary ratings and ten with cardinal ones. The published files hold the responses alone; what
people were told (validities, the top of the rating scale) is in `DESIGNS`, from the experiments' published designs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lakatos.domains.kit.archive import ArchiveReader, ArchiveSource
from lakatos.experiments.errors import DataMissingError, TrialsError
from lakatos.experiments.task import Stimuli, Trials


@dataclass(frozen=True)
class PublishedDesign:
    """One experiment: its file and what people were told."""

    experiment: str
    file: str
    rating_max: int
    validities: tuple[float, ...]
    sha256: str


DESIGNS = (
    PublishedDesign(
        "binary-1a",
        "binary/round_000_obs_00.jsonl",
        1,
        (0.95, 0.8, 0.7, 0.65),
        "174ebdd7b4f20ef003393721dc29ca6ba01fa08f0131a23d59779cde1d81d524",
    ),
    PublishedDesign(
        "binary-1b",
        "binary/round_000_obs_01.jsonl",
        1,
        (0.9, 0.8, 0.7, 0.6, 0.5),
        "70cefac8f12bcca41a1325a2280ea6956a7b3e2cda0bbf1d073974678dd18a96",
    ),
    PublishedDesign(
        "binary-2a",
        "binary/round_001_obs_00.jsonl",
        1,
        (0.95, 0.94, 0.93, 0.92, 0.52, 0.51, 0.5),
        "ce883aea3c9518f95c33ae89eff9e2c2d7048140541c597093de1f7ee56f3f95",
    ),
    PublishedDesign(
        "binary-2b",
        "binary/round_001_obs_01.jsonl",
        1,
        (0.99, 0.98, 0.97, 0.96, 0.55, 0.54, 0.53, 0.52),
        "d53c28f1023f510e8384cbad10dae644fe989ba930bbdee1804652c86f47ae4c",
    ),
    PublishedDesign(
        "binary-3a",
        "binary/round_002_obs_00.jsonl",
        1,
        (0.95, 0.85, 0.75, 0.65, 0.55),
        "8d688415f0b4e13ddba9ae12f15733549d4aedf091b76b3ab7063ec8212c993f",
    ),
    PublishedDesign(
        "binary-3b",
        "binary/round_002_obs_01.jsonl",
        1,
        (0.95, 0.9, 0.85, 0.8, 0.75, 0.6, 0.6, 0.6),
        "c8b9b285d4e25ae55bca4748ca1b75387681cbd20caa84fa02b3732bd29aed20",
    ),
    PublishedDesign(
        "binary-4a",
        "binary/round_003_obs_00.jsonl",
        1,
        (0.95, 0.6, 0.58, 0.55, 0.5),
        "177fb9ce9a515ff734f1a65ba290f85c62f039602fd2036d4169a373ba1ccfbe",
    ),
    PublishedDesign(
        "binary-4b",
        "binary/round_003_obs_01.jsonl",
        1,
        (0.98, 0.96, 0.94, 0.6, 0.55),
        "a874c32d31666915559c4b35aa5a38be7b81afa7c8fe7240a27568755713f9b5",
    ),
    PublishedDesign(
        "binary-5a",
        "binary/round_004_obs_00.jsonl",
        1,
        (0.92, 0.91, 0.9, 0.85, 0.85, 0.85, 0.85),
        "6db980e041e8c3982dc9b379665f31d573865201caf379cf1bc709e3aa8d6632",
    ),
    PublishedDesign(
        "binary-5b",
        "binary/round_004_obs_01.jsonl",
        1,
        (0.95, 0.9, 0.85, 0.8, 0.75, 0.7),
        "973c3a4b0d5f0659726bbbf171a9ba827a4bb0d3b5ba000cf9eceb9675f673ac",
    ),
    PublishedDesign(
        "cardinal-1a",
        "cardinal/round_000_obs_00.jsonl",
        5,
        (0.95, 0.85, 0.75, 0.65),
        "745ba3cf47a6cd746fee4d4514daf5f86d129d8615a945a7ea792cde044e16f1",
    ),
    PublishedDesign(
        "cardinal-1b",
        "cardinal/round_000_obs_01.jsonl",
        5,
        (0.95, 0.85, 0.75, 0.65, 0.55),
        "f441fcab997414c18efd0d45e28cce52005553b1b7c3fcf1f9d7b599a767dff0",
    ),
    PublishedDesign(
        "cardinal-2a",
        "cardinal/round_001_obs_00.jsonl",
        10,
        (0.9, 0.8, 0.6, 0.5),
        "d5e5e834b028d2dd411b3cde7353255bcb8d7da0a57c78c0640eb2956e966fa1",
    ),
    PublishedDesign(
        "cardinal-2b",
        "cardinal/round_001_obs_01.jsonl",
        10,
        (0.9, 0.8, 0.7, 0.6, 0.5),
        "6d959b4100164034dd712a28025f0764c2277c71fa36f6fb23b6368c5ec957aa",
    ),
    PublishedDesign(
        "cardinal-3a",
        "cardinal/round_002_obs_00.jsonl",
        10,
        (1.0, 0.9, 0.6, 0.5, 0.5),
        "50dcfac5c6b4c80187db8ffc748a7d589b3387d74cd05dc17e3a76d1f4621fe6",
    ),
    PublishedDesign(
        "cardinal-3b",
        "cardinal/round_002_obs_01.jsonl",
        10,
        (1.0, 0.9, 0.6, 0.5, 0.5),
        "a31b060d3f1cc0f6ff4ffc6b14921c903243f1e15391da84ded02c4769befc23",
    ),
    PublishedDesign(
        "cardinal-4a",
        "cardinal/round_003_obs_00.jsonl",
        10,
        (0.9, 0.8, 0.6, 0.5),
        "16fd3227375c75db178483427d6a4f5d90df97c6da2ed01edcc1901476bf5fae",
    ),
    PublishedDesign(
        "cardinal-4b",
        "cardinal/round_003_obs_01.jsonl",
        10,
        (0.9, 0.8, 0.7, 0.6),
        "ddd0c398aef39799e9496bf8dd491bd2d1303c1bbb6b83d627408a3a03deada0",
    ),
    PublishedDesign(
        "cardinal-5a",
        "cardinal/round_004_obs_00.jsonl",
        10,
        (0.9, 0.8, 0.7, 0.6, 0.5),
        "d2c5746c37d7a9eb9c08985b6a7adea51baa99e8fa9f0c51b281474c28cd0fcc",
    ),
    PublishedDesign(
        "cardinal-5b",
        "cardinal/round_004_obs_01.jsonl",
        10,
        (0.95, 0.65, 0.6, 0.55, 0.5),
        "983f7b7b94ca0216779f6f7c5f39a51a4cfadc0861295d310798df5f474e4ecb",
    ),
)
FOLDERS = {
    "binary": "results/human_decision_making_binary/ttb+wadd/observations/data",
    "cardinal": "results/human_decision_making_cardinal/ttb+tallying/observations/data",
}


def read(folder: Path) -> tuple[Trials, ...]:
    """All 20 experiments, in the order of publication.

    Raises:
        DataMissingError: A file is not in ``folder``.
        TrialsError: A line is no response; the message names file and line.
    """
    return tuple(read_experiment(folder / design.file, design) for design in DESIGNS)


def read_experiment(path: Path, design: PublishedDesign) -> Trials:
    """One experiment: responses in order of presentation, equal trials once among the stimuli.

    Raises:
        DataMissingError: There is no such file.
        TrialsError: A line is no response; the message names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataMissingError(
            f"{path} is missing. Fetch the data set `multiattribute_autocog` first."
        ) from None
    except UnicodeDecodeError as error:
        raise TrialsError(f"{path} is no text in UTF-8: {error}.") from None
    trial_of: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    rows: list[tuple[int, int, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            subject, a, b, response = _read_line(line, design, f"{path}, line {number}")
            rows.append((subject, trial_of.setdefault((a, b), len(trial_of)), response))
    if not rows:
        raise TrialsError(f"{path} holds no responses.")
    subjects, trial, response = np.array(rows, dtype=np.int64).T
    names, participant = np.unique(subjects, return_inverse=True)
    stimuli = Stimuli(
        {
            "ratings": np.array(list(trial_of), dtype=np.float64),
            "validities": np.tile(np.array(design.validities), (len(trial_of), 1)),
            "rating_max": np.full(len(trial_of), float(design.rating_max)),
        }
    )
    return Trials(
        experiment=design.experiment,
        stimuli=stimuli,
        participant=participant.astype(np.int64),
        trial=trial,
        response=response,
        count=np.ones(len(rows), dtype=np.int64),
        n_people=len(names),
    )


def _read_line(
    line: str, design: PublishedDesign, where: str
) -> tuple[int, tuple[int, ...], tuple[int, ...], int]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise TrialsError(f"{where}: no JSON ({error}).") from None
    if not isinstance(row, dict):
        raise TrialsError(f"{where}: not an object with one response.")
    missing = [
        name
        for name in ("subject_id", "option_a_ratings", "option_b_ratings", "response")
        if name not in row
    ]
    if missing:
        raise TrialsError(f"{where}: the field(s) {', '.join(missing)} are missing.")
    if not _is_integer(row["subject_id"]) or row["subject_id"] < 0:
        raise TrialsError(
            f"{where}: subject_id must be an integer from 0 upwards, not {row['subject_id']!r}."
        )
    if not _is_integer(row["response"]) or row["response"] not in (0, 1):
        raise TrialsError(f"{where}: response must be 0 or 1, not {row['response']!r}.")
    a, b = (
        _read_ratings(row, name, design, where) for name in ("option_a_ratings", "option_b_ratings")
    )
    return row["subject_id"], a, b, row["response"]


def _read_ratings(
    row: dict[str, Any], name: str, design: PublishedDesign, where: str
) -> tuple[int, ...]:
    ratings = row[name]
    n_cues = len(design.validities)
    if (
        not isinstance(ratings, list)
        or len(ratings) != n_cues
        or not all(_is_integer(value) and 0 <= value <= design.rating_max for value in ratings)
    ):
        raise TrialsError(
            f"{where}: {name} must be {n_cues} integers from 0 to {design.rating_max}, not {ratings!r}."
        )
    return tuple(ratings)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


READER = ArchiveReader(
    name="multiattribute_autocog",
    domain="multiattribute",
    title="Multi-attribute choice by people recruited online (AutoCog, 2026)",
    source=ArchiveSource(
        repository="akjagadish/autocog",
        commit="6761c69e",
        folder="results",
        licence="MIT",
        cite=(
            "Closing the Loop to Discover Psychological Theories with an Automated Cognitive Scientist (2026), "
            "arXiv:2606.26448"
        ),
        files={design.file: design.sha256 for design in DESIGNS},
        remote={
            design.file: f"{FOLDERS[design.file.split('/')[0]]}/{design.file.split('/')[1]}"
            for design in DESIGNS
        },
    ),
    read=read,
)
