"""A researcher's own function is imported, fitted, scored and simulated by commands, beside other theories."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from typer.testing import CliRunner, Result

from lakatos.domains import DOMAINS
from lakatos.flows.commands.main import app
from lakatos.flows.notebook.likelihood import check_comparable, code_of_notebook
from lakatos.theories.errors import TheoryError
from tests.test_documentation import DOCS


def ask(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["theory", *map(str, arguments)], env={"COLUMNS": "200"})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of the documentation, and responses of learners."""
    folder = tmp_path_factory.mktemp("likelihood")
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    section = page[page.index("### A likelihood function") :]
    (folder / "model.py").write_text(section.split("```python\n")[1].split("```")[0])
    rng, rows = np.random.default_rng(1), []
    for person in range(10):
        value = np.zeros(2)
        for trial in range(40):
            choice = int(rng.random() < expit(3 * (value[1] - value[0])))
            reward = int(rng.random() < (0.3, 0.7)[choice])
            value[choice] += 0.4 * (reward - value[choice])
            rows.append((f"s{person}", trial + 1, choice, reward))
    table = pd.DataFrame(rows, columns=["subject", "trial", "choice", "reward"])
    table.to_csv(folder / "responses.csv", index=False)
    found = ask(
        "import", folder / "model.py", "--likelihood", "--responses", folder / "responses.csv"
    )
    assert found.exit_code == 0, found.output
    assert "choices is the column choice (response)" in found.stderr
    (folder / "mine.py").write_text(found.stdout)
    return folder


def test_the_example_is_fitted_and_simulated(place: Path) -> None:
    each, simulated = place / "each.csv", place / "simulated.csv"
    found = ask(
        *("fit", place / "mine.py", place / "responses.csv", "--each", "--out", each),
        *("--simulate", simulated),
    )
    assert found.exit_code == 0, found.output
    table, made = pd.read_csv(each), pd.read_csv(simulated)
    assert list(table["responses"]) == [40] * 10
    assert table["alpha_ml"].between(0, 1).all()
    assert set(made["choice"]) == {0, 1}
    assert list(made.columns) == ["subject", "choice", "reward"]


def test_it_is_scored_beside_a_theory_of_the_language_on_the_same_responses(place: Path) -> None:
    found = ask("score", place / "responses.csv", place / "mine.py", "rescorla_wagner", "random")
    assert found.exit_code == 0, found.output
    table = pd.read_csv(io.StringIO(found.stdout)).set_index("theory")
    assert table.loc["random", "score"] == pytest.approx(-np.log(2))
    assert table.loc["Delta rule", "score"] > -np.log(2)
    difference = table.loc["Delta rule", "score"] - table.loc["rescorla_wagner", "score"]
    assert abs(difference) < 0.03  # the same form, whose populations have another shape


@pytest.mark.parametrize(
    "asked",
    [
        ("check", "mine.py"),
        ("export", "mine.py", "--as", "json"),
        ("effects", "responses.csv", "mine.py", "--by", "trial"),
    ],
)
def test_commands_that_need_predictions_of_options_refuse_a_likelihood(
    place: Path, asked: tuple[str, ...]
) -> None:
    done = ask(*(place / word if "." in word else word for word in asked))
    assert done.exit_code != 0
    assert "mine.py is a likelihood function" in str(done.exception)


@pytest.mark.slow
def test_a_function_alone_is_scored_on_a_table_of_no_known_task(place: Path) -> None:
    table = pd.read_csv(place / "responses.csv").rename(
        columns={"choice": "press", "reward": "tone"}
    )
    table.to_csv(place / "strange.csv", index=False)
    said = ("--argument", "choices=press", "--argument", "rewards=tone", "--responses")
    found = ask("import", place / "model.py", "--likelihood", *said, place / "strange.csv")
    assert found.exit_code == 0, found.output
    (place / "strange.py").write_text(found.stdout)
    strange = ask("score", place / "strange.csv", place / "strange.py")
    usual = ask("score", place / "responses.csv", place / "mine.py")
    assert strange.exit_code == 0, strange.output
    assert strange.stdout == usual.stdout


def test_rows_that_theories_do_not_have_are_refused(place: Path) -> None:
    table = pd.read_csv(place / "responses.csv")
    table.loc[table.index[:3], "choice"] = np.nan
    table.to_csv(place / "gaps.csv", index=False)
    found = ask("score", place / "gaps.csv", place / "mine.py", "random")
    assert found.exit_code != 0
    assert "has no choice" in str(found.exception)


@pytest.mark.parametrize("domain", ["perception", "attention", "estimation"])
def test_densities_are_not_compared_with_probabilities_of_intervals(domain: str) -> None:
    with pytest.raises(TheoryError, match=r"mine cannot be compared .* intervals between"):
        check_comparable(["mine"], DOMAINS[domain])
    check_comparable([], DOMAINS[domain])


@pytest.mark.parametrize("domain", ["learning", "public_goods", "recognition"])
def test_functions_are_compared_where_responses_are_options_or_levels(domain: str) -> None:
    check_comparable(["mine"], DOMAINS[domain])


def test_code_cells_of_a_notebook_are_read_without_its_commands() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Model"]},
        {
            "cell_type": "code",
            "source": ["%matplotlib inline\n", "import numpy as np\n", "np.log?"],
        },
        {"cell_type": "code", "source": "%%time\nslow()"},
        {"cell_type": "code", "source": ["def model(choice, p):\n", "    return 5 % p"]},
    ]
    code = code_of_notebook(json.dumps({"cells": cells}))
    assert code == "import numpy as np\n\ndef model(choice, p):\n    return 5 % p\n"
    for text in ("{}", "[]", "def model", '{"cells": [1]}'):
        with pytest.raises(TheoryError, match="notebook cannot be read"):
            code_of_notebook(text)
