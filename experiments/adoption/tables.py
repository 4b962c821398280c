"""Files in which laboratories keep people's answers, read into one table of text cells.

Read are text tables (commas, semicolons, tabulators, bars), Parquet, JSON lines, lists of JSON objects as jsPsych
writes them, exports of Qualtrics and PsychoPy, SPSS and R files where their readers are installed, and folders in the
form of Psych-DS or BIDS. Nothing in a cell is ever computed: a formula stays the text that it is.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import plural

MOST_BYTES = 2**32
MOST_ROWS = 20_000_000
MOST_COLUMNS = 5_000
TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabulators", "|": "bars"}
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")
THOUSANDS = re.compile(r"[+-]?\d+,\d{3}")
"""A number that may be one of thousands, or one with three decimals."""
MISSING = {
    "na", "n/a", "n.a.", "<na>", "#na", "#n/a", "#n/a n/a", "nan", "-nan", "nan(ind)", "-nan(ind)", "1.#ind", "-1.#ind",
    "1.#qnan", "-1.#qnan", "null", "#null!", "(null)", "undefined", ".",
    "na_character_", "na_integer_", "na_real_", "nat", "#value!", "#div/0!",
}  # fmt: skip
"""What programs write where there is no value, in letters of any case; and ``None``, as Python writes it."""
MISSING_CODE = re.compile(r"\.[a-z_]")
"""What SAS and Stata write for their several kinds of missing values: a point and a letter."""
MISSING_AMONG_NUMBERS = {"none", "-", "--", "\u2013", "\u2014", "missing", "nil", "empty"}
"""What people write there; it may be a word like others, except in a column whose other cells are numbers."""
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?")
WHOLE = re.compile(r"([+-]?\d+)\.0*")
"""A whole number as programs write it that keep numbers with decimals."""
NOT_BLANK = re.compile(r"\S")
HALF_LETTER = re.compile("[\ud800-\udfff]")
KEY_VALUE = re.compile(r"([a-z]+)-([A-Za-z0-9]+)")
"""Parts of file names in Psych-DS and BIDS, as in ``sub-01_task-choice_events.tsv``."""


@dataclass(frozen=True)
class AnswerTable:
    """Rows of text cells, an empty cell being empty text."""

    name: str
    """Of the file or folder."""
    frame: pd.DataFrame
    """Columns of text; the index is the number of each row as a spreadsheet shows it, the header being row 1."""
    notes: tuple[str, ...] = ()
    """What had to be assumed in reading it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(map(str, self.frame.columns))


def n_lines(path: Path) -> int:
    """Lines of a text table, in a second for hundreds of megabytes; 0 of what is no text table."""
    if path.is_dir() or path.suffix.lower() not in TEXT_SUFFIXES or not path.exists():
        return 0
    with path.open("rb") as file:
        blocks = iter(lambda: file.read(2**22), b"")
        counts = np.array([(block.count(b"\n"), block.count(b"\r")) for block in blocks])
    return int(counts.sum(axis=0).max(initial=0))


def read_answers(path: Path) -> AnswerTable:
    """Read a file of answers, or a folder of such files.

    Raises:
        TrialsError: It is missing, too large, or not what its name says; the message says what to do.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise TrialsError(f"there is no file {path}; name a file of answers, or a folder of them.")
    if path.stat().st_size > MOST_BYTES:
        raise TrialsError(f"{path} is larger than {MOST_BYTES >> 30} GiB; cut it into parts.")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise TrialsError(
            f"{path}: files that end in {path.suffix or 'nothing'} are not read; there are: "
            f"{', '.join(READERS)}. Save it as CSV, with one row for each answer."
        )
    try:
        table = reader(path)
    except OSError as error:
        raise TrialsError(f"cannot read {path}: {error.strerror or error}.") from None
    except RecursionError:
        raise TrialsError(
            f"cannot read {path}: its values lie too deeply within one another. A row is an object with a value for "
            "each column."
        ) from None
    return _checked(table)


def _checked(table: AnswerTable) -> AnswerTable:
    """The table, if it has rows and columns that can be told apart."""
    names = table.columns
    if not len(table.frame) or not names:
        raise TrialsError(f"{table.name} holds no row of answers below its header.")
    if len(table.frame) > MOST_ROWS or len(names) > MOST_COLUMNS:
        raise TrialsError(
            f"{table.name} has {len(table.frame):,} rows and {len(names):,} columns; at most "
            f"{MOST_ROWS:,} and {MOST_COLUMNS:,} are read. Leave out what is not needed."
        )
    return _with_whole_numbers(_with_empty_cells(table))


def _with_empty_cells(table: AnswerTable) -> AnswerTable:
    """The table with nothing in cells that say that nothing is there."""
    frame, n_missing, words = table.frame.copy(), 0, set[str]()
    for name in frame.columns:
        marks = _missing_marks(frame[name].unique().tolist())
        if marks:
            is_missing = frame[name].isin(marks)
            n_missing += int(is_missing.sum())
            words |= marks
            frame[name] = frame[name].mask(is_missing, "")
    if not n_missing:
        return table
    said = " or ".join(sorted(word.strip() for word in words))
    note = f"{n_missing:,} cells that say {said} are taken as empty"
    return replace(table, frame=frame, notes=(*table.notes, note))


def _missing_marks(distinct: Sequence[str]) -> set[str]:
    """Those of a column's cells that stand where there is no value."""
    folded = {cell: cell.strip().casefold() for cell in distinct}
    marks = {
        cell
        for cell, word in folded.items()
        if word in MISSING or cell.strip() == "None" or MISSING_CODE.fullmatch(word)
    }
    doubtful = {cell for cell, word in folded.items() if word in MISSING_AMONG_NUMBERS} - marks
    if doubtful:
        rest = [word for cell, word in folded.items() if word and cell not in marks | doubtful]
        marks |= doubtful if rest and all(map(NUMBER.fullmatch, rest)) else set()
    return marks


def _with_whole_numbers(table: AnswerTable) -> AnswerTable:
    """The table with 1.0 written as 1, where every cell of a column is a whole number.

    Programs that keep numbers with decimals, as pandas does of a column with gaps, write whole numbers so.
    """
    frame = table.frame.copy()
    for name in frame.columns:
        distinct = [cell.strip() for cell in frame[name].unique() if cell.strip()]
        if any("." in cell for cell in distinct) and all(
            cell.removeprefix("-").isdecimal() or WHOLE.fullmatch(cell) for cell in distinct
        ):
            frame[name] = by_distinct(frame[name], whole)
    return replace(table, frame=frame)


def by_distinct(cells: pd.Series, change: Callable[[Any], Any]) -> NDArray[np.object_]:
    """``(n_rows,)`` what a function makes of each cell; it is called once for each different cell."""
    place, distinct = pd.factorize(cells)
    made = np.empty(len(distinct), dtype=object)
    made[:] = [change(cell) for cell in distinct.tolist()]
    return made[place]


def numbers_of(cells: pd.Series) -> pd.Series:
    """Cells as numbers, with their index; NaN where a cell is none."""
    place, distinct = pd.factorize(cells)
    values = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce").to_numpy(np.float64)
    return pd.Series(values[place], index=cells.index)


def places_of(*columns: pd.Series | NDArray[Any]) -> NDArray[np.int64]:
    """``(n_rows,)`` number of the combination of cells that a row has in some columns, in the order of the rows."""
    place = np.zeros(len(columns[0]), dtype=np.int64)
    for cells in columns:
        own, distinct = pd.factorize(cells)
        # Numbered anew after each column, so that numbers stay below the product of two columns'.
        place = pd.factorize(place * len(distinct) + own)[0].astype(np.int64)
    return place


def whole(cell: str) -> str:
    """A cell with 1.0 written as 1."""
    found = WHOLE.fullmatch(cell.strip())
    if found is None:
        return cell
    return "0" if found[1].strip("+-0") == "" else found[1]


# Text -----------------------------------------------------------------------------------------


def separator_named(text: str) -> tuple[str, str]:
    """The separator that a first line such as ``sep=;`` names, as Excel writes it, and the text after that line.

    Where the first line names none, the separator is empty and the text is the whole text.
    """
    first, _, rest = text.partition("\n")
    word = first.strip().strip('"')
    mark = word[4:].replace("\\t", "\t") if word.lower().startswith("sep=") else ""
    return (mark, rest) if mark in DELIMITERS else ("", text)


def _read_text(path: Path) -> AnswerTable:
    """A table with a header, cells separated by whatever the header is separated by."""
    text, notes = _decoded(path)
    if _is_json(text):
        return _read_json(path)
    named, text = separator_named(text)
    head = next((line for line in io.StringIO(text) if line.strip()), "")
    if not head:
        raise TrialsError(f"{path} is empty; it holds no row of answers.")
    counts = {mark: head.count(mark) for mark in DELIMITERS}
    mark = named or (max(counts, key=lambda key: counts[key]) if any(counts.values()) else ",")
    if mark != ",":
        notes.append(f"cells are separated by {DELIMITERS[mark]}")
    header = [name.strip() for name in next(csv.reader([head], delimiter=mark))]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise TrialsError(f"{path}: two columns are called {twice[0]!r}; rename one.")
    header = [name or f"column {place}" for place, name in enumerate(header, start=1)]
    _check_widths(path, text, mark, len(header))
    frame = pd.read_csv(
        io.StringIO(text), sep=mark, dtype=str, na_filter=False, names=header, header=0,
        index_col=False, skipinitialspace=True,
    )  # fmt: skip
    frame.index = pd.RangeIndex(len(frame)) + (3 if named else 2)
    frame, found = _without_question_texts(frame)
    read = _with_empty_cells(AnswerTable(path.name, frame, (*notes, *found)))
    return _with_decimal_points(read, mark)


def _check_widths(path: Path, text: str, mark: str, n_columns: int) -> None:
    """Refuse a table whose rows differ in length: raise `TrialsError` naming the first one."""
    rows = (cells for cells in csv.reader(io.StringIO(text), delimiter=mark) if cells)
    try:
        for number, cells in enumerate(rows, start=1):
            if len(cells) != n_columns:
                raise TrialsError(
                    f"{path}: row {number} has {len(cells)} cells and the header {n_columns}. Put text that "
                    f"holds {DELIMITERS[mark]} in double quotes; complete or delete a row that is cut."
                )
    except csv.Error as error:
        raise TrialsError(f"{path}: {error}; is this a table of text?") from None


def _decoded(path: Path) -> tuple[str, list[str]]:
    """The text of a file, and what was assumed about its encoding."""
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return _with_new_lines(data.decode("utf-16")), ["the file is UTF-16 text"]
        except UnicodeDecodeError:
            raise TrialsError(
                f"{path} begins as UTF-16 text and is damaged or cut off. Save it again, as CSV in UTF-8."
            ) from None
    if b"\0" in data:
        raise TrialsError(f"{path} is no text; save it as CSV in UTF-8.")
    try:
        return _with_new_lines(data.decode("utf-8-sig")), []
    except UnicodeDecodeError as error:
        row = _with_new_lines(data[: error.start].decode("latin-1")).count("\n") + 1
        note = (
            f"the file is not UTF-8 (row {row} holds the byte {data[error.start]:#04x}); it was read as "
            "Windows-1252, look at names with accents"
        )
        return _with_new_lines(data.decode("cp1252", errors="replace")), [note]


def _with_new_lines(text: str) -> str:
    """Text whose lines end as on one kind of machine."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_question_texts(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The rows of answers of an export of Qualtrics, whose second and third rows tell what columns ask."""
    for place in range(min(2, len(frame))):
        cells = frame.iloc[place]
        if cells.str.contains('"ImportId"', regex=False).any():
            return frame.iloc[place + 1 :], [
                f"an export of Qualtrics: rows 2 to {place + 2} hold questions, not answers"
            ]
    return frame, []


def _with_decimal_points(table: AnswerTable, mark: str) -> AnswerTable:
    """The table with decimal commas written as points, where every cell of a column is such a number.

    Where cells are separated by commas, a comma before three digits may group thousands: such a column stays as it is.
    """
    frame, turned = table.frame.copy(), []
    for name in frame.columns:
        cells = frame[name]
        filled = cells[cells != ""]
        with_comma = filled[filled.str.contains(",", regex=False)]
        if not len(with_comma) or not filled.str.fullmatch(DECIMAL_COMMA).all():
            continue
        if mark == "," and with_comma.str.fullmatch(THOUSANDS).any():
            continue
        frame[name] = cells.str.replace(",", ".", regex=False)
        turned.append(str(name))
    if not turned:
        return table
    note = f"commas in {', '.join(turned)} are decimal commas"
    return replace(table, frame=frame, notes=(*table.notes, note))


# Other forms ----------------------------------------------------------------------------------


def _read_parquet(path: Path) -> AnswerTable:
    """Read a table from a Parquet file."""
    try:
        return _of_frame(path.name, pd.read_parquet(path))
    except (ValueError, OSError) as error:
        raise TrialsError(f"{path} is no Parquet file: {error}.") from None


def _is_json(text: str) -> bool:
    """Whether a text begins with a JSON list or object, as exports of JATOS do whose names end in .txt."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except ValueError:
        return False
    return isinstance(value, list | dict)


def _read_json(path: Path) -> AnswerTable:
    """A list of objects, a list of such lists (one a participant), or an object with a list of trials.

    Several values one after another, as JATOS writes one for each participant, are a list of these.
    """
    text, values, place = _decoded(path)[0].strip(), list[Any](), 0
    decoder = json.JSONDecoder()
    try:
        while place < len(text) or not values:
            value, place = decoder.raw_decode(text, place)
            values.append(value)
            following = NOT_BLANK.search(text, place)
            place = following.start() if following else len(text)
    except ValueError as error:
        raise TrialsError(f"{path} is no JSON: {error}.") from None
    return _of_objects(path, values[0] if len(values) == 1 else values)


def _read_json_lines(path: Path) -> AnswerTable:
    """One JSON value a line; each is a row, or the list of one person's rows."""
    rows = []
    for number, line in enumerate(_decoded(path)[0].splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise TrialsError(f"{path}: line {number} is no JSON: {error}.") from None
    return _of_objects(path, rows)


def _of_objects(path: Path, value: Any) -> AnswerTable:
    """A table of objects; lists of lists get a column ``session`` with the place of the list."""
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        value = lists[0] if len(lists) == 1 else [value]
    if not isinstance(value, list):
        raise TrialsError(f"{path}: this JSON is neither a list of rows nor an object with one.")
    rows: list[dict[str, Any]] = []
    for number, item in enumerate(value):
        parts = item if isinstance(item, list) else [item]
        wrong = next((part for part in parts if not isinstance(part, dict)), None)
        if wrong is not None:
            raise TrialsError(f"{path}: item {number} of the list is {wrong!r:.60}, not an object.")
        extra = {"session": number} if isinstance(item, list) else {}
        rows.extend({**extra, **_flat(part)} for part in parts)
    table = _of_frame(path.name, pd.DataFrame.from_records(rows))
    note = "an object in the list is a row; rows are numbered from 2, as below a header"
    return replace(table, notes=(note,))


def _flat(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    """An object whose parts are no objects: ``{"a": {"b": 1}}`` is ``{"a.b": 1}``."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = _whole_letters(key)
        if isinstance(item, dict) and before.count(".") < 4:
            found |= _flat(item, f"{before}{name}.")
        else:
            cell = _whole_letters(item) if isinstance(item, str) else item
            found[f"{before}{name}"] = json.dumps(item) if isinstance(item, (list, dict)) else cell
    return found


def _whole_letters(text: str) -> str:
    r"""Text in which halves of letters, which JSON can hold and no other text, are written out, as ``\ud800``."""
    return HALF_LETTER.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def table_of_frame(name: str, frame: pd.DataFrame) -> AnswerTable:
    """A data frame as a table of text cells.

    Raises:
        TrialsError: It has no rows, too many of them, or two columns of one name.
    """
    names = list(map(str, frame.columns))
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        raise TrialsError(f"{name}: two columns are called {twice[0]!r}; rename one.")
    return _checked(_of_frame(name, frame))


def _of_frame(name: str, frame: pd.DataFrame) -> AnswerTable:
    """A table of text cells of a table of values."""
    columns = {_whole_letters(str(column)): _as_text(frame[column]) for column in frame.columns}
    return AnswerTable(name, pd.DataFrame(columns, index=pd.RangeIndex(2, len(frame) + 2)))


def _as_text(values: pd.Series) -> list[str]:
    """Cells as text: nothing for missing values, whole numbers without a point."""
    return ["" if _is_missing(value) else _written(value) for value in values.tolist()]


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return _whole_letters(str(value)).strip()


def _read_spss(path: Path) -> AnswerTable:
    """A file of SPSS, its values without their labels."""
    pyreadstat = _optional("pyreadstat", path)
    try:
        frame, _ = pyreadstat.read_sav(str(path), apply_value_formats=False)
    except Exception as error:  # the reader raises errors of its own
        raise TrialsError(f"{path} is no file of SPSS: {error}.") from None
    return _of_frame(path.name, frame)


def _read_r(path: Path) -> AnswerTable:
    """A data frame that R saved with `saveRDS`, or the only one of an ``.RData`` file."""
    pyreadr = _optional("pyreadr", path)
    try:
        found = pyreadr.read_r(str(path))
    except Exception as error:  # the reader raises errors of its own
        raise TrialsError(f"{path} is no data frame of R: {error}.") from None
    if len(found) != 1:
        raise TrialsError(
            f"{path} holds {len(found)} data frames; save the one with the answers by saveRDS()."
        )
    return _of_frame(path.name, next(iter(found.values())))


def _optional(name: str, path: Path) -> Any:
    """A reader that not everybody has installed."""
    try:
        return __import__(name)
    except ImportError:
        raise TrialsError(
            f"{path}: reading it needs the package {name}; `pip install {name}` into this "
            "environment, or save the file as CSV."
        ) from None


def _read_folder(path: Path) -> AnswerTable:
    """All tables of a folder below one another, with what their names say in columns of their own."""
    there = sorted(
        file
        for file in path.rglob("*")
        if file.is_file()
        and file.suffix.lower() in FOLDER_SUFFIXES
        and not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    files = _own_files(path, there)
    events = [file for file in files if file.stem.endswith(("_events", "_beh", "_data"))]
    chosen = events or files
    if not chosen:
        links = (
            " Links out of the folder are not followed; copy the files into it." if there else ""
        )
        raise TrialsError(
            f"the folder {path} holds no table; there are none that end in .csv or .tsv.{links}"
        )
    parts, notes = [], [f"{len(chosen)} files of the folder, one below the other"]
    if len(files) < len(there):
        n_links = plural(len(there) - len(files), "link")
        notes.append(f"{n_links} not followed, out of the folder or to a file that is in it anyway")
    said_by: dict[str, list[str]] = {}
    for file in chosen:
        table = read_answers(file)
        said = dict(KEY_VALUE.findall(file.stem))
        extra = {key: value for key, value in said.items() if key not in table.columns}
        parts.append(table.frame.assign(**extra, file=str(file.relative_to(path))))
        for note in table.notes:
            said_by.setdefault(note, []).append(file.name)
    frame = pd.concat(parts, ignore_index=True).fillna("")
    frame.index = pd.RangeIndex(2, len(frame) + 2)
    for note, names in said_by.items():
        notes.append(f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {note}")
    return _checked(AnswerTable(path.name, frame, tuple(notes)))


def _own_files(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Files that lie in a folder, each once; links that lead out of it are left out."""
    by_place: dict[Path, Path] = {}
    for file in sorted(files, key=lambda file: (file.is_symlink(), file)):
        place = file.resolve()
        if place.is_relative_to(folder.resolve()):
            by_place.setdefault(place, file)
    return sorted(by_place.values())


FOLDER_SUFFIXES: Sequence[str] = (".csv", ".tsv")
READERS: dict[str, Callable[[Path], AnswerTable]] = {
    ".csv": _read_text, ".tsv": _read_text, ".txt": _read_text,
    ".parquet": _read_parquet, ".pq": _read_parquet,
    ".jsonl": _read_json_lines, ".ndjson": _read_json_lines, ".json": _read_json,
    ".sav": _read_spss, ".rds": _read_r, ".rdata": _read_r,
}  # fmt: skip
"""By the end of a file's name."""
