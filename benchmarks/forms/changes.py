"""Changes of form that leave the meaning of a file of responses as it is.

Each change takes a file and returns it in another form, or nothing where it has no such form.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.forms.data_sets import KINDS, PlainFile, Rng, domain_of
from lakatos.experiments.adoption.mapping import leaves_of
from lakatos.experiments.answer_scale import scale_of

WHO, WHEN = "subject", "trial"
TIMED = {"attention", "perception"}
ORDERED = {"attention", "learning"}
"""Domains whose trials depend on the responses before them; rounds tell the order of gifts."""


@dataclass(frozen=True)
class FormedFile:
    """A data set in some form: its table, how that is written, and what a user says of its columns."""

    kind: str
    frame: pd.DataFrame
    """Typed cells, by the names of the plain form."""
    response: str
    said: Mapping[str, Any]
    """Meanings of columns that a user says in any case, by the names of the plain form."""
    mapping: Mapping[str, Any] = field(default_factory=dict)
    """Meanings of all columns of the plain form, which a user says where ``is_said``."""
    changed: Mapping[str, Any] = field(default_factory=dict)
    """Those of ``mapping`` that a change of form has altered."""
    is_said: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    """Other names of columns."""
    is_ordered: bool = True
    """Whether rows of each participant are in the order of presentation."""
    has_order: bool = True
    """Whether a column tells the order of presentation."""
    tolerance: float = 0.0
    """Relative difference of numbers that rounding may have made."""
    separator: str = ","
    decimal: str = "."
    quoting: int = csv.QUOTE_MINIMAL
    encoding: str = "utf-8"
    line_end: str = "\n"
    first_line: str = ""
    last_lines: str = ""
    suffix: str = ".csv"
    split: str = ""
    """How rows are spread over files: by participants, by rows, or by names of files that name participants."""
    items: pd.DataFrame | None = None
    """A second table with what each question shows."""
    is_trailed: bool = False
    """Whether each line ends with a separator."""
    pad: str = ""
    """What stands around each cell."""
    is_exponent: bool = False
    """Whether numbers with decimals are written as 1.5e+00."""
    index_name: str | None = None
    """Name of a first column that numbers rows; none without."""

    @property
    def domain(self) -> str:
        """The kind of task."""
        return KINDS[self.kind].domain

    @property
    def needs_order(self) -> bool:
        """Whether trials depend on the responses before them."""
        return self.domain in ORDERED or domain_of(self.kind).sequential

    def columns(self) -> dict[str, Any]:
        """What a user says of the columns, by the names that they have in the file."""
        said: Mapping[str, Any] = merged(self.mapping, self.changed) if self.is_said else {}
        return _renamed(merged(said, self.said), self.names)

    def with_cells(self, **columns: Any) -> FormedFile:
        """The same with other cells in some columns, or with further columns."""
        return replace(self, frame=self.frame.assign(**columns))

    def saying(self, **said: Any) -> FormedFile:
        """The same with more that a user says of columns."""
        return replace(self, said=merged(self.said, said))

    def altering(self, **changed: Any) -> FormedFile:
        """The same where a user who says everything says something else."""
        return replace(self, changed=merged(self.changed, changed))

    # Writing -------------------------------------------------------------------------------------

    def write(self, folder: Path) -> Path:
        """The file, or a folder of files."""
        frame = self.frame.rename(columns=dict(self.names))
        if self.index_name is not None:
            frame.insert(0, self.index_name, np.arange(len(frame)))
        who = self.names.get(WHO, WHO)
        if self.items is not None:
            items = self.items.rename(columns=dict(self.names))
            self._write_text(folder / "items.csv", items)
        if not self.split:
            return self._write(folder / f"answers{self.suffix}", frame, who)
        place = folder / "parts"
        place.mkdir()
        if self.split == "rows":
            for number, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
                self._write(place / f"part{number}{self.suffix}", frame.iloc[rows], who)
            return place
        people = list(dict.fromkeys(frame[who]))
        groups = [[own] for own in people] if self.split == "names" else np.array_split(people, 2)
        for number, some in enumerate(groups):
            rows = frame[frame[who].isin(list(some))]
            name = f"part{number}"
            if self.split == "names":
                name, rows = f"sub-{number + 1:02d}_task-choice_beh", rows.drop(columns=who)
            self._write(place / f"{name}{self.suffix}", rows, who)
        return place

    def _write(self, path: Path, frame: pd.DataFrame, who: str) -> Path:
        if self.suffix == ".parquet":
            mixed = {
                name: frame[name].map(text_of) for name in frame if frame[name].dtype == object
            }
            frame.assign(**mixed).reset_index(drop=True).to_parquet(path)
        elif self.suffix == ".json":
            path.write_text(frame.to_json(orient="records"), encoding="utf-8")
        elif self.suffix == ".jsonl":
            path.write_text(frame.to_json(orient="records", lines=True), encoding="utf-8")
        elif self.suffix == ".sessions.json":
            path = path.with_name("answers.json")
            own = [
                json.loads(rows.to_json(orient="records"))
                for _, rows in frame.groupby(who, sort=False)
            ]
            path.write_text(json.dumps(own), encoding="utf-8")
        else:
            self._write_text(path, frame)
        return path

    def _write_text(self, path: Path, frame: pd.DataFrame) -> None:
        out = io.StringIO()
        writer = csv.writer(
            out,
            delimiter=self.separator,
            quoting=self.quoting,
            lineterminator=self.line_end,  # type: ignore[arg-type]
        )
        more = [""] if self.is_trailed else []
        writer.writerow([*frame.columns, *more])
        for row in frame.itertuples(index=False, name=None):
            cells = [
                f"{cell:.15e}".replace(".", self.decimal)
                if self.is_exponent and isinstance(cell, float) and cell == cell
                else text_of(cell, self.decimal)
                for cell in row
            ]
            writer.writerow([*(f"{self.pad}{cell}{self.pad}" for cell in cells), *more])
        text = self.first_line + out.getvalue() + self.last_lines
        path.write_bytes(text.encode(self.encoding, errors="replace"))


def text_of(cell: Any, decimal: str = ".") -> str:
    """A cell as text: nothing where there is no value."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool | np.bool_):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float | np.floating):
        return repr(float(cell)).replace(".", decimal)
    return str(cell)


def merged(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one; tables within them are merged likewise."""
    both = {**first, **then}
    for key, value in first.items():
        if isinstance(value, Mapping) and isinstance(then.get(key), Mapping):
            both[key] = merged(value, then[key])
    return both


def _renamed(value: Any, names: Mapping[str, str], key: str = "") -> Any:
    """Texts that name columns, or compute with them, with the names that the columns have; keys where they do so."""
    if isinstance(value, Mapping):
        has_columns = key in ("missing", "recode", "where")
        return {
            names.get(own, own) if has_columns else own: _renamed(item, names, "" if key else own)
            for own, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_renamed(item, names) for item in value]
    if isinstance(value, str):
        return re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word[0], word[0]), value)
    return value


def plain_form(kind: str, file: PlainFile, mapping: Mapping[str, Any]) -> FormedFile:
    """A data set as it is before any change of form."""
    known = {
        key: value
        for key, value in mapping.items()
        if key not in ("responses", "response_time_unit")
    }
    return FormedFile(kind, file.frame, file.response, file.said, known)


# Participants and rows ------------------------------------------------------------------------


def _with_ids(names: Callable[[int, Rng], str | int]) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        people = list(dict.fromkeys(file.frame[WHO]))
        code = {old: names(at, rng) for at, old in enumerate(people)}
        return file.with_cells(**{WHO: file.frame[WHO].map(code)})

    return change


Change = Callable[[FormedFile, Rng], "FormedFile | None"]
IDS: dict[str, Change] = {
    "ids from 1": _with_ids(lambda at, rng: at + 1),
    "ids from 0": _with_ids(lambda at, rng: at),
    "ids 001": _with_ids(lambda at, rng: f"{at + 1:03d}"),
    "ids with spaces and accents": _with_ids(lambda at, rng: f"Müller, Jörg {at}"),
    "ids of hexadecimal digits": _with_ids(lambda at, rng: rng.bytes(12).hex()),
    "ids that look like powers": _with_ids(lambda at, rng: f"{at + 1}e{at + 3}"),
    "one id is NA": _with_ids(lambda at, rng: "NA" if at == 1 else f"N{at}"),
    "ids that differ in case": _with_ids(lambda at, rng: ("p", "P")[at % 2] + str(at // 2)),
    "ids end in .0": _with_ids(lambda at, rng: f"{at + 101}.0"),
    "ids falling": _with_ids(lambda at, rng: 900 - 7 * at),
}


def _blocks_of_people(file: FormedFile, rng: Rng) -> FormedFile:
    people = rng.permutation(list(dict.fromkeys(file.frame[WHO])))
    parts = [file.frame[file.frame[WHO] == who] for who in people]
    return replace(file, frame=pd.concat(parts, ignore_index=True))


def _interleaved(file: FormedFile, rng: Rng) -> FormedFile:
    """Rows of participants mixed, each participant's rows in their order."""
    who = file.frame[WHO].to_numpy()
    mixed = rng.permutation(who)
    waiting = {own: np.flatnonzero(who == own).tolist() for own in set(who)}
    order = [waiting[own].pop(0) for own in mixed]
    return replace(file, frame=file.frame.iloc[order].reset_index(drop=True))


def _shuffled(file: FormedFile, rng: Rng) -> FormedFile | None:
    if file.needs_order and not file.has_order:
        return None
    order = rng.permutation(len(file.frame))
    return replace(file, frame=file.frame.iloc[order].reset_index(drop=True), is_ordered=False)


def _by_trial(file: FormedFile, rng: Rng) -> FormedFile | None:
    if WHEN not in file.frame or not file.is_ordered:
        return None
    return replace(file, frame=file.frame.sort_values(WHEN, kind="stable").reset_index(drop=True))


def _from_the_end(file: FormedFile, rng: Rng) -> FormedFile | None:
    if file.needs_order and not file.has_order:
        return None
    return replace(file, frame=file.frame[::-1].reset_index(drop=True), is_ordered=False)


def _twice(file: FormedFile, rng: Rng) -> FormedFile | None:
    """The whole table once more below itself, as where two exports were joined."""
    if not file.has_order or WHEN not in file.frame:
        return None
    return replace(file, frame=pd.concat([file.frame] * 2, ignore_index=True), is_ordered=False)


ROWS: dict[str, Change] = {
    "participants in another order": _blocks_of_people,
    "rows of participants interleaved": _interleaved,
    "rows shuffled": _shuffled,
    "rows by trial": _by_trial,
    "rows from the end": _from_the_end,
    "every row twice": _twice,
}


def _anew(*, block: str, every: int) -> Change:
    """Numbers of trials that begin anew in each block, whose number stands in a column or nowhere."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if WHEN not in file.frame or not (file.is_ordered or block):
            return None
        number = file.frame[WHEN].to_numpy() - 1
        made = file.with_cells(**{WHEN: number % every + 1})
        if block:
            return made.with_cells(**{block: number // every + 1})
        return replace(made, has_order=False)

    return change


def _numbered(number: Callable[[Any], Any]) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if WHEN not in file.frame:
            return None
        return file.with_cells(**{WHEN: number(file.frame[WHEN])})

    return change


def _not_numbered(file: FormedFile, rng: Rng) -> FormedFile | None:
    if not file.is_ordered or WHEN not in file.frame:
        return None
    made = replace(file, frame=file.frame.drop(columns=WHEN), has_order=False)
    return made.altering(order="")


def _elapsed(file: FormedFile, rng: Rng) -> FormedFile | None:
    """Milliseconds since the start in place of numbers of trials."""
    if not file.is_ordered or WHEN not in file.frame:
        return None
    elapsed = file.frame[WHEN] * 2500 + rng.integers(0, 900, len(file.frame))
    made = replace(file, frame=file.frame.drop(columns=WHEN), has_order=False)
    return made.with_cells(time_elapsed=elapsed).altering(order="")


TRIALS: dict[str, Change] = {
    "trials begin anew, with a column of blocks": _anew(block="block", every=10),
    "trials begin anew, with a column of sessions": _anew(block="session", every=15),
    "trials begin anew": _anew(block="", every=10),
    "trials from 0": _numbered(lambda cells: cells - 1),
    "trials by tens": _numbered(lambda cells: cells * 10),
    "trials with decimals": _numbered(lambda cells: cells.astype(float)),
    "trials with leading zeros": _numbered(lambda cells: [f"{cell:03d}" for cell in cells]),
    "no numbers of trials": _not_numbered,
    "time elapsed in place of trials": _elapsed,
}


# Responses ------------------------------------------------------------------------------------


def _is_two(file: FormedFile) -> bool:
    return set(file.frame[file.response].unique()) == {0, 1} and file.domain != "attention"


def _coded(zero: Any, one: Any, *, said: bool = False) -> Change:
    """Other cells for 0 and 1; which is which is said or not."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if not _is_two(file) or (said and file.response == "pressed"):  # its name says what 1 is
            return None
        cells = file.frame[file.response].map({0: zero, 1: one})
        made = file.with_cells(**{file.response: cells})
        return made.saying(responses={str(zero): 0, str(one): 1}) if said else made

    return change


def _in_words(words: Mapping[str, tuple[str, str]]) -> Change:
    """Words for the two options, as each kind of task may have them."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        return _coded(*words[file.domain])(file, rng) if file.domain in words else None

    return change


def _by_name(names: Mapping[str, str], *, is_first: bool) -> Change:
    """The column of responses with a name that says what 1 stands for."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if not _is_two(file) or file.domain not in names or file.response in file.names:
            return None
        cells = file.frame[file.response]
        made = file.with_cells(**{file.response: 1 - cells if is_first else cells})
        return replace(made, names={**file.names, file.response: names[file.domain]})

    return change


def _of_several(code: Callable[[int], Any]) -> Change:
    """Other cells where there are more than two options, or two choices in a row."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        names = ["choice1", "choice2"] if file.kind == "two steps" else [file.response]
        first = 1 if file.kind == "two steps" else 0
        values = file.frame[names]
        if file.kind not in ("two steps", "several arms"):
            return None
        return file.with_cells(
            **{name: [code(int(cell) - first) for cell in values[name]] for name in names}
        )

    return change


def _timed(
    kind: str, code: Mapping[Any, Any], name: str = "", *, said: Mapping[str, int] | None = None
) -> Change:
    """Other cells of keys, or of right and wrong."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if file.kind != kind or file.response in file.names:
            return None
        names = ["key", "correct_key"] if file.response == "key" else [file.response]
        if not all(file.frame[own].isin(list(code)).all() for own in names):
            return None
        made = file.with_cells(**{own: file.frame[own].map(dict(code)) for own in names})
        made = replace(made, names={**made.names, file.response: name}) if name else made
        return made.saying(responses=said) if said else made

    return change


KEYS, RIGHT = "conflict tasks, keys", "conflict tasks, right or wrong"
CODING: dict[str, Change] = {
    "1.0 and 0.0": _coded(0.0, 1.0),
    "TRUE and FALSE": _coded("FALSE", "TRUE"),
    "True and False": _coded("False", "True"),
    "-1 and 1": _coded(-1, 1),
    "1 and 2": _coded(1, 2),
    "yes and no": _coded("no", "yes"),
    "spaces around": _coded(" 0", "1 "),
    "A and B": _coded("A", "B"),
    "a and b": _coded("a", "b"),
    "first and second": _coded("first", "second"),
    "option1 and option2": _coded("option1", "option2"),
    "left and right": _coded("left", "right"),
    "f and j": _coded("f", "j"),
    "f and j, said": _coded("f", "j", said=True),
    "b and a, said": _coded("b", "a", said=True),
    "1 and 0, said": _coded(1, 0, said=True),
    "2 and 1, said": _coded(2, 1, said=True),
    "key codes, said": _coded(70, 74, said=True),
    "key codes": _coded(70, 74),
    "words": _in_words({"intertemporal": ("sooner", "later"), "multiattribute": ("left", "right")}),
    "SS and LL": _in_words({"intertemporal": ("SS", "LL")}),
    "named by the first": _by_name(
        {"intertemporal": "chose_sooner", "multiattribute": "chose_left"}, is_first=True
    ),
    "now": _by_name({"intertemporal": "chose_now"}, is_first=True),
    "named by the second": _by_name(
        {"intertemporal": "chose_later", "multiattribute": "chose_right", "risky": "chose_b"},
        is_first=False,
    ),
    "options from 0": _of_several(lambda place: place),
    "options from 1": _of_several(lambda place: place + 1),
    "options with decimals": _of_several(lambda place: place + 1.0),
    "options A, B": _of_several(lambda place: "ABCD"[place]),
    "options left, right": _of_several(lambda place: ("left", "right", "up", "down")[place]),
    "key: left and right": _timed(KEYS, {"f": "left", "j": "right"}),
    "key: arrows": _timed(KEYS, {"f": "ArrowLeft", "j": "ArrowRight"}),
    "key: capitals": _timed(KEYS, {"f": "F", "j": "J"}),
    "key: codes": _timed(KEYS, {"f": 70, "j": 74}),
    "key: codes, said": _timed(KEYS, {"f": 70, "j": 74}, said={"70": 0, "74": 1}),
    "correct: TRUE": _timed(RIGHT, {0: "FALSE", 1: "TRUE"}),
    "correct: True": _timed(RIGHT, {0: "False", 1: "True"}),
    "correct: 1.0": _timed(RIGHT, {0: 0.0, 1: 1.0}),
    "correct: words": _timed(RIGHT, {0: "incorrect", 1: "correct"}),
    "correct: -1": _timed(RIGHT, {0: -1, 1: 1}),
    "correct: 1 and 2": _timed(RIGHT, {0: 2, 1: 1}),
    "accuracy": _timed(RIGHT, {0: 0, 1: 1}, "accuracy"),
    "error": _timed(RIGHT, {0: 1, 1: 0}, "error"),
    "errors, TRUE": _timed(RIGHT, {0: "TRUE", 1: "FALSE"}, "error"),
}


# Missing values -------------------------------------------------------------------------------

MARKS: tuple[Any, ...] = (
    "", "NA", "n/a", "NaN", "nan", "null", "NULL", "None", ".", "-", "--", "#N/A", ".a", "NA_integer_", "missing",
    "none", "timeout", "no response", -999, 999, 99, -1, 9, -99, 0,
)  # fmt: skip


def _may_be_a_response(mark: Any, file: FormedFile, *, said: bool) -> bool:
    """Whether nobody could know that a mark is no response: it is one, or is among the numbers that may be one."""
    cells, scale = file.frame[file.response], scale_of(domain_of(file.kind))
    if mark in set(cells) or not isinstance(mark, int):
        return mark in set(cells)
    if said or scale is None or scale.kind == "timed":
        return False
    places = scale.edges or scale.places
    return places[0] <= mark <= places[-1]


def _missed(mark: Any, *, said: bool, share: float = 0.04) -> Change:
    """Further rows without a response."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if file.domain == "public_goods" or not file.is_ordered:
            return None
        frame = file.frame
        if _may_be_a_response(mark, file, said=said):
            return None
        n = max(1, int(share * len(frame)))
        places = rng.choice(len(frame), n, replace=False)
        if file.domain == "attention":  # a missed trial is what came before the next one
            places = np.flatnonzero(frame[WHO].to_numpy()[:-1] != frame[WHO].to_numpy()[1:])[:1]
            if len(frame) - len(places) < 1 or not len(places):
                return None
        if WHEN in frame and not np.issubdtype(frame[WHEN].dtype, np.integer):
            return None
        rows = frame.iloc[places].copy().astype(object)
        empty = [file.response, *(c for c in ("choice2", "state", "rt") if c in frame)]
        for name in empty:
            rows[name] = mark
        if "reward" in frame:
            rows["reward"] = 0
        index = np.concatenate([np.arange(len(frame)), places + 0.5])
        made = pd.concat([frame.astype(object), rows], ignore_index=True)
        made = made.iloc[np.argsort(index, kind="stable")].reset_index(drop=True)
        if WHEN in frame and file.has_order and "block" not in frame and "session" not in frame:
            made[WHEN] = made.groupby(WHO, sort=False).cumcount() + 1
        elif WHEN in frame:
            made[WHEN] = made[WHEN].astype(int)
        for name in frame:
            if name not in empty:
                made[name] = made[name].infer_objects()
        done = replace(file, frame=made)
        return done.saying(missing={name: [str(mark)] for name in empty}) if said else done

    return change


MISSING: dict[str, Change] = {
    f"missed: {'empty' if mark == '' else mark}{', said' if said else ''}": _missed(mark, said=said)
    for mark in MARKS
    for said in (False, True)
    if not said or isinstance(mark, int) or mark in ("timeout", "no response")
} | {"a fifth missed: NA": _missed("NA", said=False, share=0.2)}


# Columns --------------------------------------------------------------------------------------


def _extra(name: str, cells: Callable[[FormedFile, Rng], Any]) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        return None if name in file.frame else file.with_cells(**{name: cells(file, rng)})

    return change


def _of_people(values: Callable[[Rng], Any]) -> Callable[[FormedFile, Rng], Any]:
    def cells(file: FormedFile, rng: Rng) -> Any:
        return file.frame[WHO].map({who: values(rng) for who in dict.fromkeys(file.frame[WHO])})

    return cells


def _random(low: float, high: float) -> Callable[[FormedFile, Rng], Any]:
    return lambda file, rng: rng.uniform(low, high, len(file.frame)).round(2)


def _words(*words: str) -> Callable[[FormedFile, Rng], Any]:
    return lambda file, rng: rng.choice(np.array(words, dtype=object), len(file.frame))


def _indexed(name: str) -> Change:
    return lambda file, rng: replace(file, index_name=name)


EXTRA: dict[str, Change] = {
    "index column": _indexed(""),
    "Unnamed: 0": _indexed("Unnamed: 0"),
    "rownames": _indexed("rownames"),
    "index": _indexed("index"),
    "constant": _extra("browser", lambda file, rng: "Firefox"),
    "empty column": _extra("comment", lambda file, rng: ""),
    "text": _extra("comment", _words('said "yes", twice', "one; two", "", "ja,\nnein", "#1")),
    "random number": _extra("pupil", _random(2, 6)),
    "response time": _extra("rt", _random(300, 4000)),
    "response time, words": _extra("reaction_time_ms", _random(300, 4000)),
    "age": _extra("age", _of_people(lambda rng: int(rng.integers(18, 70)))),
    "gender": _extra("gender", _of_people(lambda rng: str(rng.choice(["f", "m", "d"])))),
    "date": _extra("date", lambda file, rng: "2024-05-17T10:22:01Z"),
    "session": _extra("session", lambda file, rng: 1),
    "block": _extra("block", lambda file, rng: 1),
    "version": _extra("version", lambda file, rng: "1.0.3"),
    "task": _extra("task", lambda file, rng: "main"),
    "study": _extra("study", lambda file, rng: 3),
    "trial_type": _extra("trial_type", lambda file, rng: "html-button-response"),
    "total": _extra("total", lambda file, rng: len(file.frame)),
    "score so far": _extra("score", lambda file, rng: np.arange(len(file.frame)) // 3),
    "fps": _extra("frameRate", _random(59, 61)),
    "confidence": _extra("confidence", lambda file, rng: rng.integers(1, 6, len(file.frame))),
    "flag": _extra("is_fullscreen", lambda file, rng: "TRUE"),
    "row id": _extra("id", lambda file, rng: rng.permutation(len(file.frame)) + 10_000),
    "second id": _extra(
        "participant_code", lambda file, rng: [f"x{who}" for who in file.frame[WHO]]
    ),
    "seed": _extra("seed", _of_people(lambda rng: int(rng.integers(1, 10**9)))),
    "fixation": _extra("fixation_duration", _random(400, 600)),
    "clicks": _extra("n_clicks", lambda file, rng: rng.integers(1, 4, len(file.frame))),
    "position": _extra("position", lambda file, rng: rng.integers(0, 2, len(file.frame))),
    "missing everywhere": _extra("notes", lambda file, rng: "NA"),
}


def _columns_in_another_order(file: FormedFile, rng: Rng) -> FormedFile:
    names = rng.permutation(np.array(list(file.frame.columns), dtype=object))
    return replace(file, frame=file.frame[list(names)])


GERMAN = {
    "subject": "Versuchsperson", "trial": "Durchgang", "choice": "Wahl", "reward": "Gewinn", "rt": "Reaktionszeit",
    "amount_sooner": "Betrag_früh", "amount_later": "Betrag_spät", "delay_sooner": "Tage_früh",
    "delay_later": "Tage_spät", "group": "Gruppe", "contribution": "Beitrag", "round": "Runde", "estimate": "Schätzung",
    "condition": "Bedingung", "correct": "Richtig", "gain": "Gewinn", "loss": "Verlust", "accept": "Annahme",
}  # fmt: skip


def _called(name: Callable[[str, int], str], *, is_said: bool) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if file.names or file.items is not None:
            return None
        names = {old: name(old, at) for at, old in enumerate(file.frame.columns)}
        if len(set(names.values())) < len(names):
            return None
        return replace(file, names=names, is_said=is_said)

    return change


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


NAMES: dict[str, Change] = {
    "columns in another order": _columns_in_another_order,
    "NAMES": _called(lambda name, at: name.upper(), is_said=False),
    "Names": _called(lambda name, at: name.title(), is_said=False),
    "camelNames": _called(lambda name, at: _camel(name), is_said=False),
    "names.with.points": _called(lambda name, at: name.replace("_", "."), is_said=False),
    "names with spaces": _called(lambda name, at: name.replace("_", " "), is_said=False),
    "data.names": _called(lambda name, at: f"data.{name}", is_said=False),
    "names, said": _called(lambda name, at: name, is_said=True),
    "NAMES, said": _called(lambda name, at: name.upper(), is_said=True),
    "German": _called(lambda name, at: GERMAN.get(name, name), is_said=False),
    "German, said": _called(lambda name, at: GERMAN.get(name, f"Wert_{at}"), is_said=True),
    "short, said": _called(lambda name, at: f"v{at}", is_said=True),
    "letters": _called(
        lambda name, at: "".join(word[0] for word in re.findall(r"[a-z]+|\d+", name)), is_said=False
    ),
}


# Units ----------------------------------------------------------------------------------------


def _rewards(factor: float) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if file.domain != "learning":
            return None
        cells = (file.frame["reward"] * factor).round(9)
        return replace(file.with_cells(reward=cells), tolerance=1e-9)

    return change


def _rewards_in_words(won: str, nothing: str) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if file.domain != "learning" or not file.frame["reward"].isin([0, 1]).all():
            return None
        return file.with_cells(reward=file.frame["reward"].map({1: won, 0: nothing}))

    return change


def _delays(unit: str, days: float) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if file.domain != "intertemporal" or "delay_later" not in file.frame:
            return None
        names = ("delay_sooner", "delay_later")
        if any(name in file.names for name in names):
            return None
        made = file.with_cells(**{name: (file.frame[name] / days).round(12) for name in names})
        made = replace(
            made, tolerance=1e-6, names={**file.names, **{n: f"{n}_{unit}" for n in names}}
        )
        return made.altering(stimulus={"delay_unit": unit})

    return change


def _times(name: str, unit: str) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if file.domain not in TIMED or "rt" in file.names or file.frame["rt"].dtype == object:
            return None
        made = file.with_cells(rt=file.frame["rt"] / 1000) if unit == "s" else file
        made = replace(made, names={**file.names, "rt": name}) if name != "rt" else made
        return made.altering(response_time_unit=unit)

    return change


def _cents(file: FormedFile, rng: Rng) -> FormedFile | None:
    """Amounts in cents, as their names say."""
    if file.domain not in ("intertemporal", "risky"):
        return None
    names = [name for name in file.frame if re.match(r"amount|[ab]_x|gain|loss", name)]
    if not names or any(name in file.names for name in names):
        return None
    made = file.with_cells(**{name: (file.frame[name] * 100).round(6) for name in names})
    made = replace(made, tolerance=1e-6, names={**file.names, **{n: f"{n}_cents" for n in names}})
    return made.altering(stimulus={"amount_unit": "cents"})


def _per_cent(file: FormedFile, rng: Rng) -> FormedFile | None:
    """Probabilities in per cent."""
    names = [name for name in file.frame if re.fullmatch(r"[ab]_p\d", name)]
    return file.with_cells(**{n: (file.frame[n] * 100).round(6) for n in names}) if names else None


def _coins(file: FormedFile, rng: Rng) -> FormedFile | None:
    """Another number of coins, which is said."""
    if file.domain != "public_goods":
        return None
    made = file.with_cells(contribution=file.frame["contribution"] * 5)
    return made.saying(stimulus={"endowment": 100})


def _other_range(file: FormedFile, rng: Rng) -> FormedFile | None:
    """Places and heights from 0 to 100, which is said."""
    if file.domain != "estimation":
        return None
    names = [n for n in file.frame if re.fullmatch(r"[xy]\d+|query|estimate", n)]
    if any(file.frame[n].dtype == object for n in names):
        return None
    made = file.with_cells(**{n: (50 * (file.frame[n] + 1)).round(9) for n in names})
    return replace(made, tolerance=1e-9).saying(stimulus={"x_range": [0, 100], "y_range": [0, 100]})


def _minus(file: FormedFile, rng: Rng) -> FormedFile | None:
    """Losses with their sign."""
    return file.with_cells(loss=-file.frame["loss"]) if "loss" in file.frame else None


def _difference(file: FormedFile, rng: Rng) -> FormedFile | None:
    """What waiting pays in place of the later amount, which is said."""
    if file.domain != "intertemporal" or "amount_later" not in file.frame or file.is_said:
        return None
    more = (file.frame["amount_later"] - file.frame["amount_sooner"]).round(9)
    made = replace(file, frame=file.frame.drop(columns="amount_later"), tolerance=1e-9)
    stimulus = {
        "amounts": ["amount_sooner", "amount_sooner + extra"],
        "delays_days": ["delay_sooner", "delay_later"],
    }
    return made.with_cells(extra=more).saying(stimulus=stimulus)


UNITS: dict[str, Change] = {
    "rewards x 100": _rewards(100),
    "rewards x 50": _rewards(50),
    "rewards x 0.01": _rewards(0.01),
    "rewards x 1/7": _rewards(1 / 7),
    "rewards: TRUE": _rewards_in_words("TRUE", "FALSE"),
    "rewards: win": _rewards_in_words("win", "nothing"),
    "rewards: win, loss": _rewards_in_words("win", "loss"),
    "delays in weeks": _delays("weeks", 7),
    "delays in hours": _delays("hours", 1 / 24),
    "delays in months": _delays("months", 30.4375),
    "delays in days": _delays("days", 1),
    "seconds": _times("rt", "s"),
    "seconds, named": _times("rt_s", "s"),
    "milliseconds, named": _times("rt_ms", "ms"),
    "response_time": _times("response_time", "ms"),
    "cents, named": _cents,
    "per cent": _per_cent,
    "100 coins, said": _coins,
    "0 to 100, said": _other_range,
    "losses with their sign": _minus,
    "difference, said": _difference,
}


# Layouts --------------------------------------------------------------------------------------


def _row_for_each_person(file: FormedFile, rng: Rng) -> FormedFile | None:
    """A row for each participant, a column for each question, and a second file with what each shows."""
    domain = domain_of(file.kind)
    if domain.sequential or file.domain in (*TIMED, "public_goods") or file.names:
        return None
    if "where" in file.said or WHO not in file.frame or file.frame[WHO].nunique() < 2:
        return None
    read = set(map(str, leaves_of(merged(file.mapping, file.columns()).get("stimulus", {}))))
    shown = [name for name in file.frame if name in read]
    questions = (
        file.frame[shown].astype(object).where(file.frame[shown].notna(), "").drop_duplicates()
    )
    if len(questions) < 2:
        return None
    key = pd.MultiIndex.from_frame(questions)
    rows = key.get_indexer(
        pd.MultiIndex.from_frame(
            file.frame[shown].astype(object).where(file.frame[shown].notna(), "")
        )
    )
    if pd.DataFrame({"who": file.frame[WHO], "row": rows}).duplicated().any():
        return None
    items = questions.assign(question=[f"Q{at + 1}" for at in range(len(questions))])
    wide = pd.DataFrame({WHO: list(dict.fromkeys(file.frame[WHO]))})
    number = {who: at for at, who in enumerate(wide[WHO])}
    cells = np.full((len(wide), len(questions)), "", dtype=object)
    for who, row, cell in zip(file.frame[WHO], rows, file.frame[file.response], strict=True):
        cells[number[who], row] = cell
    wide = pd.concat([wide, pd.DataFrame(cells, columns=items["question"])], axis=1)
    made = replace(file, frame=wide, items=items, is_said=True, is_ordered=False, has_order=False)
    return made.altering(order="", response="").saying(
        wide="Q*", item="question", items="items.csv"
    )


def _row_for_each_option(*, said: bool) -> Change:
    """A row for each alternative of each choice; the response is 1 in the row of the one that was chosen."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        sides = {
            "money now or later": ("sooner", "later"),
            "offers": tuple("1234"),
            "declared: menu": tuple("123"),
        }
        own = sides.get(file.kind)
        if own is None or file.names or WHEN not in file.frame or not file.is_ordered:
            return None
        labels = domain_of(file.kind).options if file.kind != "money now or later" else own
        parts = []
        known = [n for n in file.frame if n.rpartition("_")[2] in own and n.rpartition("_")[0]]
        if not known or not set(file.frame[file.response]) <= {0, 1, 2, *labels}:
            return None
        names = list(dict.fromkeys(n.rpartition("_")[0] for n in known))
        if len(known) < len(names) * len(own):  # an attribute is written as a difference
            return None
        rest = [n for n in file.frame if n not in known and n != file.response]
        for place, (side, label) in enumerate(zip(own, labels, strict=True)):
            part = file.frame[rest].assign(
                alternative=label, **{name: file.frame[f"{name}_{side}"] for name in names}
            )
            chosen = file.frame[file.response].isin([place, label])
            parts.append(
                part.assign(**{file.response: chosen.astype(int)}, _at=np.arange(len(part)))
            )
        frame = (
            pd.concat(parts, ignore_index=True)
            .sort_values("_at", kind="stable")
            .drop(columns="_at")
        )
        made = replace(file, frame=frame.reset_index(drop=True))
        return made.saying(alternative="alternative", choice_set=WHEN) if said else made

    return change


LAYOUTS: dict[str, Change] = {
    "a row for each participant, said": _row_for_each_person,
    "a row for each alternative": _row_for_each_option(said=False),
    "a row for each alternative, said": _row_for_each_option(said=True),
}


def _practice(column: str, practice: Any, main: Any, said: Any) -> Change:
    """Rows of practice at the beginning of each participant, which the mapping leaves out."""

    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if not file.is_ordered or file.items is not None or file.domain == "public_goods":
            return None
        if WHEN in file.frame and not np.issubdtype(file.frame[WHEN].dtype, np.integer):
            return None
        parts = []
        for _, own in file.frame.groupby(WHO, sort=False):
            first = own.iloc[: min(3, len(own))].assign(**{column: practice})
            both = pd.concat([first, own.assign(**{column: main})], ignore_index=True)
            if WHEN in both and file.has_order and "block" not in both and "session" not in both:
                both[WHEN] = np.arange(1, len(both) + 1)
            parts.append(both)
        return replace(file, frame=pd.concat(parts, ignore_index=True)).saying(where={column: said})

    return change


PRACTICE: dict[str, Change] = {
    "practice, in words": _practice("phase", "practice", "main", "main"),
    "practice, in numbers": _practice("stage_of_study", 0, 1, 1),
    "practice, TRUE": _practice("practice", "TRUE", "FALSE", False),
}


# Files ----------------------------------------------------------------------------------------


def _text(**written: Any) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        return replace(file, **written) if file.suffix in (".csv", ".txt", ".tsv") else None

    return change


def _written(suffix: str) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        is_plain = file.first_line == "" and file.separator == "," and not file.split
        return replace(file, suffix=suffix) if is_plain and file.items is None else None

    return change


def _split(how: str) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if (
            file.items is not None
            or file.suffix not in (".csv", ".tsv")
            or (file.is_said and how == "names")
        ):
            return None
        return replace(file, split=how)

    return change


def _with_accents(encoding: str) -> Change:
    def change(file: FormedFile, rng: Rng) -> FormedFile | None:
        if "Ort" in file.frame:
            return None
        return replace(file.with_cells(Ort="Köln-Mülheim"), encoding=encoding)

    return change


SEPARATORS: dict[str, Change] = {
    "semicolons": _text(separator=";"),
    "semicolons and decimal commas": _text(separator=";", decimal=","),
    "tabulators": _text(separator="\t"),
    "tabulators and decimal commas": _text(separator="\t", decimal=","),
    "bars": _text(separator="|"),
    "sep=;": _text(separator=";", decimal=",", first_line="sep=;\n"),
    "sep=,": _text(first_line="sep=,\n"),
    "quoted decimal commas": _text(decimal=","),
    "everything quoted": _text(quoting=csv.QUOTE_ALL),
    "texts quoted": _text(quoting=csv.QUOTE_NONNUMERIC),
}
CELLS: dict[str, Change] = {
    "a cell more in every row": _text(is_trailed=True),
    "blanks around cells": _text(pad=" "),
    "numbers with an exponent": _text(is_exponent=True),
}
ENCODINGS: dict[str, Change] = {
    "byte order mark": _text(encoding="utf-8-sig"),
    "UTF-16": _text(encoding="utf-16"),
    "Latin-1": _with_accents("latin-1"),
    "Windows-1252": _with_accents("cp1252"),
    "UTF-8 with accents": _with_accents("utf-8"),
    "lines of Windows": _text(line_end="\r\n"),
    "lines of old Macs": _text(line_end="\r"),
    "empty lines at the end": _text(last_lines="\n\n"),
}
FILES: dict[str, Change] = {
    ".txt": _text(suffix=".txt"),
    ".tsv": _text(suffix=".tsv", separator="\t"),
    "JSON": _written(".json"),
    "JSON lines": _written(".jsonl"),
    "JSON, a list for each participant": _written(".sessions.json"),
    "Parquet": _written(".parquet"),
    "files of some participants each": _split("people"),
    "files of some rows each": _split("rows"),
    "files that name participants": _split("names"),
}
GROUPS: Sequence[Mapping[str, Change]] = (
    UNITS, CODING, MISSING, PRACTICE, TRIALS, LAYOUTS, IDS, EXTRA, ROWS, NAMES, SEPARATORS, CELLS, ENCODINGS, FILES,
)  # fmt: skip
"""Of each group a chain has one change at most; they are made in this order."""
