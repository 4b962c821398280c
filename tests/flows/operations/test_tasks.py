"""The commands about tasks: a declaration is written, looked at, refused, and told from other files."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[2] / "domains" / "declared"))

from tasks import EXAMPLES, GIFTS, STUDIES, WITH_FEEDBACK, gifts

from lakatos.domains import DOMAINS, open_domain
from lakatos.domains.declared.declaration import kinds
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError, TaskFileError
from lakatos.flows.commands.main import app
from lakatos.flows.operations.tasks import (
    NEW_TASK,
    _attribute_name,
    _comment,
    examine_task,
    files_with_tasks,
    new_task,
)


def test_a_new_declaration_is_valid_named_after_its_file_and_explains_every_kind(
    tmp_path: Path,
) -> None:
    made = new_task(tmp_path / "Risky choice.toml")
    found = examine_task(str(made))
    assert found.domain.name == "risky_choice"
    assert found.n_trials > 100
    assert all(f"#   {kind} " in NEW_TASK for kind in kinds())
    with pytest.raises(TaskFileError, match="exists; name another file"):
        new_task(made)
    with pytest.raises(TaskFileError, match="is a TOML file"):
        new_task(tmp_path / "task.py")
    assert examine_task(str(new_task(tmp_path / "risky.toml"))).domain.name == "my_risky"


def test_a_check_shows_trials_the_size_of_the_space_arrays_and_rivals(tmp_path: Path) -> None:
    file, page = tmp_path / "gifts.toml", tmp_path / "page.html"
    file.write_text(GIFTS)
    done = CliRunner().invoke(app, ["domain", "check", str(file), "--page", str(page)])
    assert done.exit_code == 0, done.output
    assert "gifts: 48 trials with 2 options (left, right)" in done.output
    assert "left: worth €" in done.output
    assert "theories see, for each trial: worth (2,), wrapping (2,)" in done.output
    assert "weighted_adding: Weighted adding" in done.output
    assert page.read_text().count("<table") == 5


@pytest.mark.parametrize("name", WITH_FEEDBACK)
def test_a_check_of_a_task_with_feedback_shows_a_session_and_what_theories_see(name: str) -> None:
    found = examine_task(str(STUDIES / "tasks" / f"{name}.toml"))
    n_steps = 160 if name == "keys" else 40
    assert f"{name}: {n_steps} steps with 2 options" in found.to_text()
    assert "payoff" not in found.arrays
    assert {"last_choice", "last_reward"} <= set(found.variations)
    assert "rescorla_wagner" in found.theories


def test_spaces_that_are_too_large_or_empty_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "gifts.toml"
    file.write_text(gifts(("levels = [1, 2, 4, 8]", "from = 0\nto = 100\nstep = 1")))
    with pytest.raises(StimuliError, match="such as trials = 400"):
        examine_task(str(file))
    file.write_text(gifts(('["plain", "red", "gold"]', '["plain", "red"]\nbetter = "more"'),
                          ("[1, 2, 4, 8]", "[1, 2]")))  # fmt: skip
    assert examine_task(str(file)).n_trials == 1
    one = gifts().split("[attributes.wrapping]")[0]
    file.write_text(one)
    with pytest.raises(EmptyDesignSpaceError, match="Say dominated = true"):
        examine_task(str(file))


def test_a_program_whose_parts_contradict_each_other_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gifts.py"
    file.write_text(
        "from lakatos.domains.declared.task import DeclaredDomain\n"
        "class Gifts(DeclaredDomain):\n"
        "    def describe(self, stimuli, row):\n        return 'a trial'\n"
        f"DOMAIN = Gifts({GIFTS!r})\n"
    )
    with pytest.raises(TaskFileError, match="two trials are described in the same words"):
        examine_task(str(file))


def test_a_list_has_the_domains_of_the_package_and_the_declarations_of_a_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "good.toml").write_text(GIFTS)
    (tmp_path / "bad.toml").write_text(gifts(('["left", "right"]', '["left"]')))
    (tmp_path / "study.toml").write_text('name = "a study"\n')
    (tmp_path / "broken.toml").write_text("name = ")
    found = {path.name: words for path, words in files_with_tasks(tmp_path)}
    assert set(found) == {"good.toml", "bad.toml"}
    assert found["good.toml"] == "gifts"
    assert found["bad.toml"].startswith("not valid, line 4: options: 1 label; ")
    done = CliRunner().invoke(app, ["domain", "list", str(tmp_path)])
    assert done.exit_code == 0
    assert all(name in done.output for name in (*DOMAINS, "gifts", "not valid, line 4"))


def test_the_examples_are_listed_and_named_by_the_studies_beside_them() -> None:
    names = {*EXAMPLES, *WITH_FEEDBACK}
    assert {words for _, words in files_with_tasks(STUDIES / "tasks")} == names
    for name in names:
        assert f'file = "tasks/{name}.toml"' in (STUDIES / f"{name}.toml").read_text()


SWITCHES = {
    "show": ("show =",),
    "noun": ("noun =",),
    "trials": ("trials =",),
    "screens": ("[[screens]]", "text =", "ms ="),
    "listed trials": ("[[space.listed]]", "points =", "chance ="),
    "feedback": ("[feedback", "shows =", "unit =", "steps =", "amounts =", "chances ="),
}
"""Beginnings of the lines of the template that are comments and belong together."""
SWITCH_SETS = [[name] for name in SWITCHES] + [
    ["show", "noun", "screens", "trials", "feedback"],
    list(SWITCHES),
]


def switched_on(names: list[str]) -> str:
    """The template with some of its comments as lines."""
    starts = tuple(f"# {start}" for name in names for start in SWITCHES[name])
    lines = NEW_TASK.replace("NAME", "my_task").splitlines()
    return "\n".join(line[2:] if line.startswith(starts) else line for line in lines)


@pytest.mark.parametrize("names", SWITCH_SETS, ids=" and ".join)
def test_a_template_with_its_comments_switched_on_passes(names: list[str], tmp_path: Path) -> None:
    file = tmp_path / "my_task.toml"
    file.write_text(switched_on(names))
    found = examine_task(str(file))
    assert found.n_trials == (60 if "feedback" in names else 1 if "listed trials" in names else 225)


def test_every_key_among_the_comments_of_the_template_can_be_switched_on() -> None:
    keys = re.compile(r"# (\[+[a-z._A-Z]+\]+|[a-z_]+ =)")
    told = {found[1] for line in NEW_TASK.splitlines() if (found := keys.match(line))}
    starts = tuple(start for group in SWITCHES.values() for start in group)
    assert told
    assert all(word.startswith(starts) for word in told)


@pytest.mark.parametrize("n_steps", [2, 50, 51, 500])
@pytest.mark.parametrize("attributes", [True, False])
def test_a_task_with_feedback_may_have_any_number_of_steps(
    n_steps: int, attributes: bool, tmp_path: Path
) -> None:
    text = switched_on(["feedback"]).replace("steps = 60", f"steps = {n_steps}")
    if not attributes:
        text = re.sub(r"\[attributes.*?(?=\[space\])", "", text, flags=re.DOTALL)
    file = tmp_path / "my_task.toml"
    file.write_text(text)
    done = CliRunner().invoke(app, ["domain", "check", str(file)])
    assert done.exit_code == 0, done.exception
    assert f"my_task: {n_steps} steps with 2 options" in done.output


def test_a_declaration_is_written_from_the_options_and_attributes_of_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    n = 120
    frame = pd.DataFrame(
        {
            "id": np.repeat(np.arange(4), 30),
            "choice": rng.choice(["A", "B", "C"], n),
            **{f"price_{label}": rng.integers(2, 60, n) * 5 for label in "ABC"},
            **{f"seat_{label}": rng.choice(["window", "aisle"], n) for label in "ABC"},
        }
    )
    data = tmp_path / "trains.csv"
    frame.to_csv(data, index=False)
    made = new_task(tmp_path / "trains.toml", data)
    domain = open_domain(str(made))
    assert domain.options == ("A", "B", "C")
    read = describe_table(read_answers(data), domain)
    (trials,) = adopt(read.source, read.mapping, domain).trials
    shown = trials.stimuli["price"][trials.trial]
    assert shown.tolist() == frame[["price_A", "price_B", "price_C"]].to_numpy().tolist()
    assert [domain.options[place] for place in trials.response] == frame["choice"].tolist()
    frame.rename(columns={"price_A": "cost"}).drop(columns=["seat_A"]).to_csv(data, index=False)
    with pytest.raises(TaskFileError, match=r"Write the declaration by hand"):
        new_task(tmp_path / "again.toml", data)
    assert not (tmp_path / "again.toml").exists()


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("travel time", "travel_time"),
        ("class", "of_class"),
        ("options", "of_options"),
        ("2nd", "of_2nd"),
    ],
)
def test_attributes_have_names_that_theories_can_use(words: str, name: str) -> None:
    assert _attribute_name(words) == name


def test_text_of_a_file_stays_within_a_comment_of_a_declaration() -> None:
    assert _comment('none\n[space]\nname = "other"') == '# none [space] name = "other"'


def test_a_train_beside_a_bus_is_an_option_and_constant_attributes_are_left_out(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"id": np.repeat(np.arange(4), 30), "choice": rng.choice(["bus", "train"], 120)}
    )
    for label in ("bus", "train"):
        frame[f"price_{label}"] = rng.integers(1, 9, 120).astype(object)
        frame[f"seat_{label}"] = 1
    frame.loc[3, "price_train"] = ""
    data = tmp_path / "trains.csv"
    frame.to_csv(data, index=False)
    text = new_task(tmp_path / "trains.toml", data).read_text()
    assert 'options = ["bus", "train"]' in text
    assert "# seat has one value in all rows, and is left out." in text
