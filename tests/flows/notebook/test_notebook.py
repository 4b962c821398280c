"""`import lakatos` is enough: data frames in and out, loaded when needed."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from doctest import ELLIPSIS, DocTestParser, DocTestRunner
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pytest
from typer.testing import CliRunner

import lakatos
from lakatos.experiments.errors import TrialsError
from lakatos.flows.commands.main import app
from lakatos.flows.errors import StudyError, TransferError
from lakatos.flows.notebook.frames import in_kind
from lakatos.flows.notebook.study import _outside_loops
from lakatos.theories.errors import TheoryError

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_importing_the_package_loads_nothing_and_names_what_it_has() -> None:
    program = (
        "import lakatos, sys; assert not {'numpy', 'pandas', 'lakatos.flows'} & set(sys.modules); "
        "assert set(lakatos.__all__) <= set(dir(lakatos)); assert lakatos.adopt.__doc__; "
        "from lakatos import score; assert 'pandas' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match=r"has no attribute 'adapt'; it has describe, adopt"):
        _ = lakatos.adapt


@pytest.mark.parametrize(
    ("former", "instead"),
    [
        ("fit_each", r"lakatos\.fit\(responses, theory, each=True\)"),
        ("AttributeEffects", r"lakatos\.EffectsOnParameters"),
        ("GroupComparison", r"lakatos\.EffectsOnParameters"),
    ],
)
def test_a_former_name_is_refused_with_its_successor(former: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{former}'; .*{instead}"):
        getattr(lakatos, former)


def test_every_name_is_there_and_says_what_it_does() -> None:
    for name in lakatos.__all__:
        assert getattr(lakatos, name).__doc__, name
    assert set(lakatos.__all__) == set(lakatos._MODULE_OF)


def test_a_file_and_a_data_frame_are_the_same_answers(people: pd.DataFrame, file: Path) -> None:
    of_file, of_frame = lakatos.adopt(file), lakatos.adopt(people)
    assert of_file.trials[0].digest == of_frame.trials[0].digest
    assert len(of_frame.frame) == len(people)
    chosen = of_frame.frame.option.value_counts().to_dict()
    assert chosen == people.choice.value_counts().to_dict()
    assert len(of_frame.conditions) == 12


def test_what_is_guessed_wrongly_is_said(people: pd.DataFrame) -> None:
    strange = people.rename(columns={"ss_amount": "foo", "ll_amount": "bar", "choice": "picked"})
    with pytest.raises(TrialsError, match="say domain="):
        lakatos.adopt(strange.rename(columns={"ss_delay": "u", "ll_delay": "w"}))
    shown = {"amounts": ["foo", "bar"], "delays_days": ["ss_delay", "ll_delay"]}
    said = lakatos.adopt(strange, "intertemporal", {"response": "picked", "stimulus": shown})
    assert said.trials[0].digest == lakatos.adopt(people).trials[0].digest
    with pytest.raises(TrialsError, match=r"columns: rating: .* keys are participant, response"):
        lakatos.adopt(people, columns={"rating": "x"})


def test_a_table_that_is_none_is_refused() -> None:
    with pytest.raises(TrialsError, match="a int is no table"):
        lakatos.describe(7)
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(TrialsError, match="two columns are called 'a'"):
        lakatos.describe(twice)


def test_what_can_become_pandas_is_read(people: pd.DataFrame) -> None:
    class ForeignFrame:
        def to_pandas(self) -> pd.DataFrame:
            return people

    assert lakatos.describe(ForeignFrame()).n_rows == len(people)
    assert isinstance(in_kind(people, ForeignFrame()), pd.DataFrame)


def test_polars_in_polars_out(people: pd.DataFrame) -> None:
    given = polars.from_pandas(people)
    assert isinstance(lakatos.score(given, ["hyperbolic"]), polars.DataFrame)


@pytest.fixture(scope="module")
def fitted(people: pd.DataFrame) -> lakatos.FittedTheory:
    """Hyperbolic discounting with the people of the answers."""
    return lakatos.fit(people, "hyperbolic")


def test_a_fit_predicts_the_trials_that_taught_it(
    people: pd.DataFrame, fitted: lakatos.FittedTheory
) -> None:
    shares = lakatos.predict(fitted, people)
    waited = people.assign(waits=people.choice == "later")
    names = ["ss_amount", "ll_amount", "ll_delay"]
    given = waited.groupby(names).waits.mean().to_numpy()
    told = shares.astype(dict.fromkeys(names, float)).groupby(names).later.mean().to_numpy()
    assert np.corrcoef(given, told)[0, 1] > 0.8
    assert np.allclose(shares.sooner + shares.later, 1)
    assert (shares.later_low <= shares.later_high).all()


def test_trials_need_no_answers_and_wrong_ones_name_their_row(
    fitted: lakatos.FittedTheory,
) -> None:
    new = {"ss_amount": [10, 10], "ll_amount": [12, 12], "ss_delay": [0, 0], "ll_delay": [1, 300]}
    later = lakatos.predict(fitted, pd.DataFrame(new)).later
    assert later[0] > later[1]
    with pytest.raises(TrialsError, match="row 3: ll_delay is 'soon', which is no number"):
        lakatos.predict(fitted, pd.DataFrame(new | {"ll_delay": [1, "soon"]}))


def test_a_theory_that_is_none_and_a_refused_one(people: pd.DataFrame) -> None:
    with pytest.raises(TheoryError, match="there is no theory 'hyperbole'"):
        lakatos.score(people, ["hyperbole"])
    with pytest.raises(TheoryError):
        lakatos.fit(people, '"""A: b."""\nimport os\nPARAMETERS = {}\ndef choose(p, t, xp): ...')


def test_theories_are_ranked_with_intervals(people: pd.DataFrame) -> None:
    table = lakatos.score(people, ["random", "hyperbolic"])
    assert list(table.theory) == ["hyperbolic", "random"]
    assert table.score[1] == pytest.approx(-np.log(2))
    assert (table.score_low <= table.score).all()
    assert table.behind[0] == 0 < table.behind_low[1]


def test_a_theory_stays_in_its_domain(fitted: lakatos.FittedTheory) -> None:
    with pytest.raises(TransferError, match="own domain only"):
        lakatos.transfer(fitted, "allais")


def test_work_with_a_loop_of_its_own_is_done_inside_a_notebook_s_loop() -> None:
    async def cell() -> int:
        return _outside_loops(lambda: asyncio.run(asyncio.sleep(0, 7)))

    assert asyncio.run(cell()) == 7


def test_what_nobody_can_guess_leaves_nothing_behind(people: pd.DataFrame, tmp_path: Path) -> None:
    strange = people.assign(choice=people.choice.map({"sooner": "f", "later": "j"}))
    with pytest.raises(StudyError, match="which option is each of"):
        lakatos.explain(strange, runs=tmp_path)
    assert not list(tmp_path.glob("*.toml"))


@pytest.mark.slow
def test_the_page_about_notebooks_is_what_python_prints(tmp_path: Path) -> None:
    """Numbers to two or three digits; `docs/notebook.md` says which seeds."""
    page = (DOCS / "notebook.md").read_text(encoding="utf-8").replace("```", "\n")
    names = {"runs": tmp_path}
    test = DocTestParser().get_doctest(page, names, "notebook.md", "docs/notebook.md", 0)
    told: list[str] = []
    result = DocTestRunner(optionflags=ELLIPSIS).run(test, out=told.append)
    assert result.attempted > 20
    assert not result.failed, "".join(told)


CALL = re.compile(r"^lakatos\((.*)\)$", re.MULTILINE)


@pytest.mark.slow
def test_the_script_for_r_finds_every_table_and_column_that_it_reads(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R is seldom there: what the script asks of the command line is asked here, in its order."""
    script = (DOCS / "from_r.R").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    trials = {
        "ss_amount": [10, 10],
        "ll_amount": [12, 20],
        "ss_delay": [0, 0],
        "ll_delay": [30, 30],
    }
    pd.DataFrame(trials).to_csv("trials.csv", index=False)
    for call in CALL.findall(script):
        words = re.findall(r'"([^"]*)"|(\w+)', call)
        asked = [quoted or str({"answers": file}[name]) for quoted, name in words]
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == 0, (asked, result.output, result.exception)
    reads = dict(re.findall(r'(\w+) <- read\.csv\("([^"]*)"\)', script))
    uses = re.findall(r"(\w+)\[, c\(([^)]*)\)\]", script)
    assert {name for name, _ in uses} | {"given"} == set(reads)
    for name, columns in uses:
        assert set(re.findall(r'"([^"]*)"', columns)) <= set(pd.read_csv(reads[name]).columns)
    assert "option" in pd.read_csv(reads["given"]).columns
    assert Path("tables/verdict.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_r_runs_the_script(file: Path, tmp_path: Path, require: Any) -> None:
    require(shutil.which("Rscript"), "R is not installed")
    command = Path(sys.executable).with_name("lakatos")
    subprocess.run(
        ["Rscript", str(DOCS / "from_r.R"), str(file)],
        cwd=tmp_path,
        check=True,
        env={"LAKATOS": str(command), "PATH": "/usr/bin:/bin"},
    )
