"""The README of each kind of task, made from its folder so that it cannot become wrong.

`python -m lakatos.domains.kit.readme` writes all of them; a test compares them with what they should be.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

from lakatos.domains import ARCHIVES, DOMAINS
from lakatos.experiments.task import Domain
from lakatos.theories.engine.checks.claim import variations
from lakatos.theories.language.family import Family, find_family

FOLDER = Path(__file__).resolve().parent.parent
"""Folder of the kinds of tasks."""


def readme_of(name: str) -> str:
    """The README of a kind of task: the task, a trial, the theories with their sources, the data and the files."""
    domain = DOMAINS[name]
    package = import_module(f"lakatos.domains.{name}")
    task = inspect.getdoc(sys.modules[type(domain).__module__]) or ""
    family = find_family(domain)
    parts = [
        f"# {(package.__doc__ or '').strip().rstrip('.')}",
        f"The domain is called `{name}` in study files and commands.",
        task,
        "## Trials",
        *_trials(domain),
        "## Published theories",
        _table(("name", "theory", "sources"), _theories(family)),
        "## Mechanisms",
        'Theories are composed of these; each adds its clause to the claim of a theory ("people ...").',
        _table(("slot", "mechanism", "clause", "parameters", "source"), _mechanisms(family)),
        "## Published data",
        _table(("name", "title", "source", "licence"), _data_sets(name)) or "None.",
        "## Files",
        _table(("file", "subject"), _files(FOLDER / name)),
        "A mechanism stands in `theories.py` or `mechanisms/` with its code, its parameters and its wording; its tests "
        f"stand in `tests/domains/{name}/`.",
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _trials(domain: Domain) -> Iterator[str]:
    """One trial in words, the arrays that theories receive, what claims may be about, and the features of trials."""
    stimuli = domain.probes(np.random.default_rng(1))[0]
    arrays = {
        name: ", ".join(["n_trials", *map(str, array.shape[1:])])
        for name, array in domain.shown(stimuli.arrays, {}).items()
        if len(array) == len(stimuli)
    }
    yield f"A trial in words: {domain.describe(stimuli, 0)}"
    yield f"Options: {', '.join(domain.options)}."
    yield _table(
        ("array of `trials`", "shape"), ((f"`{name}`", f"`({of})`") for name, of in arrays.items())
    )
    changes = ((f"`{key}`", words) for key, words in variations(domain).items())
    yield _table(("a claim may be about", "meaning"), changes)
    yield f"Features: {', '.join(f'`{name}`' for name in domain.features(stimuli))}."


def _theories(family: Family) -> Iterable[Sequence[str]]:
    """Published theories with the sources of those parts that not nearly all of them share, or of all their parts."""
    for name, (title, composition) in family.seeds.items():
        yield f"`{name}`", title, "; ".join(family.sources(composition.slots))


def _mechanisms(family: Family) -> Iterable[Sequence[str]]:
    for item in family.grammar.mechanisms:
        parameters = ", ".join(f"`{parameter}`" for parameter in item.parameters)
        yield item.slot, item.name, item.claim, parameters, item.source


def _data_sets(name: str) -> Iterable[Sequence[str]]:
    for data_set, reader in ARCHIVES.items():
        if reader.domain == name:
            source = reader.source
            yield (
                f"`{data_set}`",
                reader.title,
                source.cite if source else "typed in; no files are needed",
                source.licence if source else "",
            )


def _files(folder: Path) -> Iterable[Sequence[str]]:
    for path in sorted(folder.rglob("*.py")):
        if path.name != "__init__.py":
            documented = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            yield f"`{path.relative_to(folder).as_posix()}`", documented.partition("\n")[0]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; empty where there are no rows."""
    lines = [" | ".join(_cell(cell) for cell in row) for row in rows]
    if not lines:
        return ""
    return "\n".join(
        f"| {line} |" for line in (" | ".join(heads), " | ".join("---" for _ in heads), *lines)
    )


def _cell(text: str) -> str:
    """A cell's text on one line, with its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    for domain_name in DOMAINS:
        (FOLDER / domain_name / "README.md").write_text(readme_of(domain_name), encoding="utf-8")
