import csv
import io

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.tables import read_cells
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.file import (
    FileParticipants,
    asked_table,
    read_answers,
    stimulus_columns,
)
from lakatos.experiments.task import Design, Trials
from lakatos.experiments.testing import ParticipantSourceContract

DOMAIN = DOMAINS["multiattribute"]
SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1]}
DESIGN = Design(
    "1.1", DOMAIN.candidates(SPACE, np.random.default_rng(1), 3), repetitions=1, n_participants=2
)
GOOD = """participant,trial,response,response_time_ms
ann,2,1,812.5
ann,0,0,640
ann,1,B,700
bob,0,A,900
bob,1,1,800
bob,2,0,650
"""


def read(path, text, designs=None, encoding="utf-8"):
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return read_answers(
        read_cells(path), designs or {"1.1": DESIGN}, DOMAIN, lambda name: f"pseudonym of {name}"
    )


@pytest.fixture
def file(tmp_path):
    return tmp_path / "answers.csv"


def test_rows_become_what_each_person_did(file):
    ann, bob = read(file, GOOD)
    assert (ann.person, bob.person) == ("pseudonym of ann", "pseudonym of bob")
    assert (ann.trial, ann.response, ann.response_time_ms) == (
        (2, 0, 1),
        (1, 0, 1),
        (812.5, 640.0, 700.0),
    )
    assert (ann.status, ann.source, ann.experiment) == ("completed", "file", "1.1")


def test_people_may_be_mixed_and_ordered_by_a_column(file):
    text = "participant,order,trial,response\nann,2,0,1\nbob,1,0,0\nann,1,1,0\nann,3,2,1\nbob,2,1,1\nbob,3,2,1\n"
    ann, bob = read(file, text)
    assert (ann.trial, ann.response) == ((1, 0, 2), (0, 1, 1))
    assert bob.trial == (0, 1, 2)


def test_trials_can_be_named_by_their_own_columns(file):
    columns = stimulus_columns(DESIGN.stimuli)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["participant", "response", *columns])
    for row in (1, 2, 0):
        writer.writerow(["ann", 1, *(column[row] for column in columns.values())])
    (ann,) = read(file, out.getvalue())
    assert ann.trial == (1, 2, 0)


def test_what_is_written_to_be_asked_names_every_trial(file):
    rows = list(csv.DictReader(io.StringIO(asked_table(DESIGN, DOMAIN))))
    assert [row["trial"] for row in rows] == ["0", "1", "2"]
    for name, column in stimulus_columns(DESIGN.stimuli).items():
        assert [float(row[name]) for row in rows] == column.tolist()


def test_a_byte_order_mark_and_quoted_commas_are_read(file):
    assert (
        len(
            read(
                file,
                '"participant",trial,response\n"Ann, 3",0,0\n"Ann, 3",1,0\n"Ann, 3",2,0\n',
                encoding="utf-8-sig",
            )
        )
        == 1
    )


def test_a_partial_person_is_told_by_the_status(file):
    (ann,) = read(
        file, "participant,trial,response,status,checks_passed,checks_failed\nann,1,0,partial,1,2\n"
    )
    assert (ann.status, ann.checks) == ("partial", (True, False, False))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; it holds no row of answers"),
        (GOOD.split("\n")[0] + "\n", "no rows below its header"),
        (GOOD.replace("participant", "subject"), "row 1 has an unknown column 'subject'"),
        (GOOD.replace("response_time_ms", "response_time_m"), "did you mean 'response_time_ms'"),
        (
            GOOD.replace("trial,", "experiment,", 1),
            "row 1 names no trials; give the column 'trial'",
        ),
        (GOOD.replace("participant,trial", "trial,trial", 1), "two columns are called 'trial'"),
        (
            GOOD.replace(",", ";").replace("812.5", "812,5"),
            "row 2 has '812,5' in the column 'response_time_ms'; write decimal points",
        ),
        (
            GOOD.replace("812.5", '"812,5"'),
            "row 2 has '812,5' in the column 'response_time_ms'; write decimal points",
        ),
        (
            GOOD.replace("812.5", "812,5"),
            "row 2 has 5 cells and the header 4. Put text that holds commas in double quotes",
        ),
        (
            GOOD.replace("ann,0,0", "ann,7,0"),
            "row 3 responds to trial 7, which was not presented; there are 0 to 2",
        ),
        (GOOD.replace("ann,0,0", "ann,2,0"), "row 3 holds what was not presented: trial 2 was"),
        (
            GOOD.replace("ann,1,B", "ann,1,C"),
            "row 4 has the response 'C'; give 0 to 1, or one of A, B",
        ),
        (GOOD.replace("ann,1,B", "ann,1,2"), "row 4 has the response 2; give 0 to 1"),
        (GOOD.replace("ann,1,B", "ann,1,"), "row 4 has no response"),
        (GOOD.replace("ann,0", ",0"), "row 3 names no participant"),
        (
            GOOD.replace("640", "-1"),
            "row 3 has '-1' in the column 'response_time_ms'; give a number from 0",
        ),
        (
            GOOD.replace("640", ""),
            "row 3 has no response time, and other responses of this participant have one",
        ),
        (
            GOOD.replace("ann,0,0", "ann,0.5,0"),
            "row 3 has '0.5' in the column 'trial'; give a whole number",
        ),
        (
            GOOD.replace("bob,2,0,650\n", ""),
            "row 6 is the last of 2 responses of a participant with the status 'completed'",
        ),
        (
            "participant,trial,response,status\nann,0,0,done\n",
            "row 2 has the status 'done'; give one of completed",
        ),
        (
            "participant,trial,response,status\nann,0,0,partial\nann,1,0,completed\n",
            "row 3 has another status than row 2",
        ),
        (
            "participant,trial,response,experiment\nann,0,0,9.9\n",
            "row 2 names the experiment '9.9'; there are 1.1",
        ),
        (GOOD.replace("ann,2", 'ann"x,2"y', 1), "cannot be read as CSV|row 2"),
    ],
)
def test_what_is_wrong_is_named_with_its_row_and_the_remedy(file, text, words):
    with pytest.raises(TrialsError, match=words):
        read(file, text)


def test_other_separators_and_encodings_are_read_and_said(file):
    expected = read(file, GOOD.replace("ann", "andr\xe9"))
    assert read_cells(file).notes == ()
    assert read(file, GOOD.replace("ann", "andr\xe9").replace(",", ";")) == expected
    assert read_cells(file).notes == ("cells are separated by semicolons",)
    assert read(file, GOOD.replace("ann", "andr\xe9"), encoding="utf-16") == expected
    assert read(file, GOOD.replace("ann", "andr\xe9"), encoding="latin-1") == expected
    assert "read as Windows-1252" in read_cells(file).notes[0]


def test_no_number_is_rewritten_and_no_name_taken_as_missing(file):
    text = "participant,trial,response,response_time_ms\n"
    text += "NA,0,1,1.125\nNA,1,0,900\nNA,2,0,2.500\n1.0,0,1,1\n1.0,1,1,1\n 1.0 , 2,1,1\n"
    one, two = read(file, text)
    assert (one.person, two.person) == ("pseudonym of NA", "pseudonym of 1.0")
    assert one.response_time_ms == (1.125, 900.0, 2.5)


def test_with_two_experiments_open_a_column_must_tell_them_apart(file):
    designs = {"1.1": DESIGN, "2.1": Design("2.1", DESIGN.stimuli, 1, 2)}
    with pytest.raises(TrialsError, match="lacks the column 'experiment'"):
        read(file, GOOD, designs)


def test_parquet_is_read_like_csv(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "answers.parquet"
    table = pyarrow.table(
        {
            "participant": ["ann"] * 3,
            "trial": [2, 0, 1],
            "response": [1, 0, 1],
            "response_time_ms": [812.5, 640.0, 1.0],
        }
    )
    parquet.write_table(table, path)
    (ann,) = read_answers(read_cells(path), {"1.1": DESIGN}, DOMAIN, str)
    assert (ann.trial, ann.response, ann.response_time_ms) == (
        (2, 0, 1),
        (1, 0, 1),
        (812.5, 640.0, 1.0),
    )
    path.write_bytes(b"no parquet")
    with pytest.raises(TrialsError, match="is no Parquet file"):
        read_cells(path)


class TestFileParticipants(ParticipantSourceContract):
    @pytest.fixture
    def source(self, tmp_path):
        return FileParticipants(tmp_path, domain=DOMAIN, settings=SPACE)

    def collect(self, source, design, key="a" * 64):
        """The answers that a file brings, as the pass makes a table of them."""
        from lakatos.experiments.participants.table import trials_of_people
        from lakatos.experiments.testing import preregister

        source.recruit(preregister(design), design, key)
        (written,) = (source.folder / "asked").glob("*.csv")
        rows = [row for row in csv.DictReader(written.open()) for _ in range(int(row["times"]))]
        answers = source.folder / "answers.csv"
        lines = [f"{person},{row['trial']},1" for person in ("ann", "bob") for row in rows]
        answers.write_text("\n".join(["participant,trial,response", *lines]))
        found = read_answers(read_cells(answers), {design.name: design}, DOMAIN, str)
        trials: list[Trials] = [trials_of_people(design, found, 2)]
        return trials
