"""Domains as people look at them: what a task's trials are, what may be said about them, which theories there are."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains import DOMAINS, open_domain
from lakatos.domains.declared.declaration import MEANINGS, TAKEN, read_task
from lakatos.experiments.adoption.describe import describe_table, menu_in
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.menu import levels_in_toml
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.errors import StimuliError, TaskFileError
from lakatos.experiments.presentation import presentation_of
from lakatos.experiments.task import Domain, Stimuli
from lakatos.flows.run.places import check_output
from lakatos.judges.items.ground_truth import SETTINGS
from lakatos.theories.engine.checks.claim import variations
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import read_program
from lakatos.traces.artifact import write_whole
from lakatos.traces.files import read_named, read_toml

Array = NDArray[Any]
N_SAMPLES = 5
NEW_TASK = f"""\
# A task: what people choose between, and how it looks. `lakatos domain check` looks at it.
name = "NAME"                        # small letters, digits and underscores
question = "Which one do you choose?"   # stands above the options
options = ["A", "B"]                 # labels of 2 to 21 options, in their order
                                     # or numbers: options = {{ from = 0, to = 10, step = 1, unit = "coins" }}
instructions = [                     # what people read first, paragraph by paragraph; English
  "You will choose between two offers, again and again.",
  "Each offer is an amount of money, and the chance of getting it. Choose the one that you would rather have.",
]

# Asked after the instructions; as many as you like, or none.
[[comprehension]]
text = "An offer says 40 points and 50%. What does it mean?"
answers = ["You get 40 points for sure", "You get 40 points in half of all cases"]
right = 1                            # place of the right answer, from 0

# One section for each attribute, in the order in which they are shown. Kinds:
{chr(10).join(f"#   {kind:<12} {words}" for kind, words in MEANINGS.items())}
[attributes.points]
kind = "amount"
label = "Points"                     # stands beside it on the page
unit = ""                            # stands behind the number
levels = [10, 20, 30, 40, 60, 80]    # or: from = 10, to = 80, step = 10; words for a category
better = "more"                      # "more" or "less" if everybody prefers that; leave it out where tastes differ
# show = "bar"                       # number alone, or bar, stars, dots, dot_size; files: images, audio, video, html
# noun = "number of points"          # what theories call it; its name by default

[attributes.chance]
kind = "probability"
label = "Chance"
levels = [0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
better = "more"
show = "bar"

# [[screens]]                        # before the options: text, a file (html, image, audio, video), or attribute
# text = "+"
# ms = 500

[space]
# trials = 400                       # a random sample of so many, where there are too many to list
dominated = false                    # whether an option may be worse than another one whatever one's taste
same = "in any order"                # or "in this order": whether a menu in another order is another trial
# [[space.listed]]                   # trials one by one instead: for each attribute its values, option by option
# points = [10, 80]
# chance = [1.0, 0.1]

# [feedback]                         # where people see what came of their choice; attributes may then be left out
# shows = "chosen"                   # or "all": also what the other options would have paid
# unit = "points"                    # what outcomes count
# steps = 60                         # choices of each person
# [feedback.outcomes.A]              # one section for each option, by its label
# amounts = [10, 0]
# chances = [0.7, 0.3]
# [feedback.outcomes.B]
# amounts = [10, 0]
# chances = [0.3, 0.7]
"""


@dataclass(frozen=True)
class TaskExamination:
    """Result of examining a domain."""

    domain: Domain
    n_trials: int
    arrays: Mapping[str, tuple[int, ...]]
    """Arrays that theories receive, with the shape for one trial."""
    features: tuple[str, ...]
    """Features that diagnoses and conditions on designs may name."""
    variations: Mapping[str, str]
    """Subjects of claims, in words."""
    theories: Mapping[str, str]
    """Published accounts by name, with their titles."""
    n_mechanisms: int
    samples: tuple[str, ...]
    """Some trials, each in a line."""
    pictures: tuple[str, ...]
    """The same as people see them."""

    def to_text(self) -> str:
        """The result as text."""
        arrays = ", ".join(f"{name} {shape}" for name, shape in self.arrays.items())
        presentation = presentation_of(self.domain)
        what = "steps" if self.domain.sequential else "trials"
        return "\n".join(
            [
                f"{self.domain.name}: {self.n_trials:,} {what} with {len(self.domain.options)} options "
                f"({', '.join(self.domain.options)})",
                f"{what}, for example:",
                *(f"  {line}" for line in self.samples),
                *(presentation.words if presentation else ()),
                f"theories see, for each {what[:-1]}: {arrays}",
                f"claims may be about: {', '.join(self.variations)}",
                f"diagnoses look at: {', '.join(self.features)}",
                f"rivals ({len(self.theories)}, and a grammar of {self.n_mechanisms} mechanisms):",
                *(f"  {name}: {title}" for name, title in self.theories.items()),
                "",
            ]
        )

    def to_page(self) -> str:
        """The sample trials as people see them, as one page without scripts."""
        shown = "".join(f"<section>{picture}</section>" for picture in self.pictures)
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(self.domain.name)}</title>'
            '<meta name="viewport" content="width=device-width">'
            "<style>section{margin:28px auto;max-width:760px}</style>"
            f"<body>{shown}</body></html>"
        )


def new_task(
    file: Path, data: Path | None = None, columns: Mapping[str, Any] | None = None
) -> Path:
    """Write a declaration of a task: a commented template, or the task of a file of responses.

    Args:
        file: The file to write, such as fairness.toml.
        data: File of responses whose columns say which options there were and what describes them.
        columns: Meanings of its columns, with the keys of the section participants.columns.

    Raises:
        TaskFileError: The file exists, or is not called something.toml; the responses show no options.
        TrialsError: The responses cannot be read.
        UnusableError: It is in a folder of a run.
    """
    if file.suffix != ".toml":
        raise TaskFileError(f"{file}: a declaration is a TOML file; call it {file.stem}.toml.")
    if file.exists():
        raise TaskFileError(f"{file} exists; name another file, or delete it.")
    check_output(file)
    name = re.sub(r"[^a-z0-9]+", "_", file.stem.lower()).strip("_")
    name = (
        name
        if re.match(r"[a-z][a-z0-9_]", name) and name not in DOMAINS
        else f"my_{name or 'task'}"
    )
    text = NEW_TASK.replace("NAME", name[:40], 1)
    if data is not None:
        text = _task_of_responses(name[:40], data, columns or {})
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, text.encode())
    return file


def _task_of_responses(name: str, data: Path, columns: Mapping[str, Any]) -> str:
    """The declaration of a task whose options and attributes stand in the names of columns of a file of responses."""
    table = read_answers(data)
    describe_table(table).with_columns(columns)  # refuses unknown keys
    menu = menu_in(table, AnswerColumns.model_validate(columns))
    if menu is None:
        raise TaskFileError(
            f"{data}: no column of choices has cells that stand in the names of other columns, as A and B in price_A "
            "and price_B, so its options are not known. Write the declaration by hand: `lakatos domain new FILE.toml` "
            "without --data makes a template."
        )
    lines = [
        _comment(
            f"The task of {data.name}. Check labels, units and kinds, and what everybody prefers (better)."
        ),
        f'name = "{name}"',
        'question = "Which one do you choose?"',
        f"options = [{', '.join(map(json.dumps, menu.options))}]",
        f'instructions = ["You will choose between {len(menu.options)} options, again and again."]',
        "",
        f"# Kinds of attributes: {', '.join(MEANINGS)}.",
    ]
    if menu.none_in_words:
        lines += [_comment(f"{menu.none_in_words.removeprefix('. ')}."), ""]
    for attribute, own in menu.attributes.items():
        kind, levels = levels_in_toml(own)
        if not kind:
            lines += [_comment(f"{attribute} has one value in all rows, and is left out."), ""]
            continue
        lines += [
            f"[attributes.{_attribute_name(attribute)}]",
            f'kind = "{kind}"',
            f"label = {json.dumps(attribute)}",
            *(['unit = ""'] if kind == "number" else []),
            levels,
            '# better = "less"                     # or "more", if everybody prefers that',
            "",
        ]
    lines += ["[space]", "trials = 400", ""]
    text = "\n".join(lines)
    read_task(text)
    return text


def _comment(words: str) -> str:
    """A comment of one line, whatever a file holds."""
    return f"# {' '.join(words.split())}"


def _attribute_name(words: str) -> str:
    """A name that an attribute can have."""
    name = re.sub(r"\W+", "_", words).strip("_")
    if keyword.iskeyword(name) or name in (*TAKEN, "options") or not name[:1].isalpha():
        return f"of_{name}"
    return name


def examine_task(word: str, seed: int = 0) -> TaskExamination:
    """Look at a domain of the package, or at a file that declares one, and try what every domain owes.

    Raises:
        TaskFileError: The file declares no domain, or its program breaks what every domain owes.
        StimuliError: Its space is too large.
        EmptyDesignSpaceError: Its space has no trial.
        GrammarError: There are no theories about it.
    """
    domain = open_domain(word)
    rng = np.random.default_rng(seed)
    space = domain.space(SETTINGS.get(word, {}))
    if word not in DOMAINS:
        _check_duties(domain, space)
    family = find_family(domain)
    rows = np.sort(rng.choice(len(space), min(N_SAMPLES, len(space)), replace=False))
    some = space.take(rows)
    return TaskExamination(
        domain=domain,
        n_trials=len(space),
        arrays={name: array.shape[1:] for name, array in _seen(domain, some).items()},
        features=tuple(domain.features(some)),
        variations=variations(domain),
        theories={name: read_program(family.program(name)).name for name in family.seeds},
        n_mechanisms=len(family.grammar.mechanisms),
        samples=tuple(domain.describe(some, row) for row in range(len(some))),
        pictures=tuple(domain.picture(some, row) for row in range(len(some))),
    )


def _seen(domain: Domain, stimuli: Stimuli) -> Mapping[str, Array]:
    """The arrays of trials that theories receive, without the outcomes of a schedule."""
    arrays = domain.shown(stimuli.arrays, {})
    return {name: array for name, array in arrays.items() if len(array) == len(stimuli)}


def _check_duties(domain: Domain, space: Stimuli) -> None:
    """Refuse a domain whose parts contradict each other."""
    some = space.take(np.arange(min(len(space), 50)))
    try:
        for probe in [some, *domain.probes(np.random.default_rng(0))]:
            domain.check(probe)
            domain.check(domain.swap_sides(probe))
    except StimuliError as error:
        raise TaskFileError(f"{domain.name}: check refuses its own trials: {error}") from None
    back = domain.swap_sides(domain.swap_sides(some))
    # steps mean nothing without one another: a part of a schedule is no schedule of the study's length
    examined = space if domain.sequential else some
    described = {domain.describe(some, row) for row in range(len(some))}
    faults = {
        "options exchanged twice give other trials; swap_sides must undo itself": back.keys
        == some.keys,
        "the space holds a trial twice; list each trial once": len(set(space.keys)) == len(space),
        "a study would refuse trials of its own space; admits must take them": bool(
            np.all(domain.admits({}, examined))
        ),
        "a feature is no finite number for each trial; features must give one": all(
            np.shape(values) == (len(some),) and np.isfinite(values).all()
            for values in domain.features(some).values()
        ),
        "a picture holds a script; give HTML without scripts": "<script"
        not in domain.picture(some, 0).lower(),
        "two trials are described in the same words; show or describe what differs": len(described)
        == len(some),
    }
    if broken := [words for words, held in faults.items() if not held]:
        raise TaskFileError(f"{domain.name}: {broken[0]}.")


def files_with_tasks(folder: Path) -> Iterator[tuple[Path, str]]:
    """Declarations in a folder, each with its task's name, or what is wrong with it."""
    for path in sorted(folder.glob("*.toml")):
        try:
            text = read_named(path).decode()
            if not {"attributes", "feedback"} & set(read_toml(text)):
                continue
            yield path, read_task(text, "not valid").name
        except TaskFileError as error:
            yield path, str(error)
        except (OSError, ValueError):
            continue  # whatever it is, it is no declaration
