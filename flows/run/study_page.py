"""The page that documents every key of a study file, made from the code: `python -m lakatos.flows.run.study_page`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from textwrap import dedent
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from lakatos.flows.run.study import CampaignConfig

HEAD = """# Study settings

A study is a TOML file. Keys without a section stand above all sections. A key that is not set has the default in the
third column; an unknown key is refused with the closest known one. `schema.json` in this folder is the schema for
editors. This page is made from the code: `python -m lakatos.flows.run.study_page > studies/README.md`.
"""
FILLED_IN = {
    "CampaignConfig.domain_file",
    "TheoriesConfig.programs",
    "ParticipantsConfig.answers",
    "ParticipantsConfig.told",
    "Budget.participants",
}
"""Keys that a study file does not have: they are filled in when it is read, or refused there."""


def study_page() -> str:
    """The page as Markdown."""
    sections = "".join(_section(name, model) for name, model in _models("", CampaignConfig))
    return f"{HEAD}{sections}"


def _models(name: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """A section and the sections in it, each with its name."""
    yield name, model
    for key, field in model.model_fields.items():
        if (own := _model_in(field.annotation)) is not None and not _is_filled_in(model, key):
            inside = f"{name}.{key}" if name else key
            yield from _models(_heading(inside, field.annotation), own)


def _heading(name: str, annotation: Any) -> str:
    """A section's name as a study file writes it: once, by names of one's own, or as a list."""
    kind = getattr(annotation, "__origin__", None)
    if kind is dict:
        return f"{name}.NAME"
    return f"[{name}]" if kind is tuple else name


def _is_filled_in(model: type[BaseModel], key: str) -> bool:
    return f"{model.__name__}.{key}" in FILLED_IN


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model of the section that a key holds, or None if it holds a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)


def _section(name: str, model: type[BaseModel]) -> str:
    """One section of the page: a sentence about it, and a table of its keys."""
    about = " ".join((inspect.getdoc(model) or "").split("\n\n")[0].split())
    words = words_of(model)
    rows = []
    for key, field in model.model_fields.items():
        if _is_filled_in(model, key) or _model_in(field.annotation) is not None:
            continue
        rows.append(f"| `{key}` | {_cell(words.get(key, ''))} | {_default(field)} |")
    if not rows:
        return ""
    title = f"## `[{name}]`" if name else "## Above all sections"
    table = "\n".join(["| key | meaning | default |", "| --- | --- | --- |", *rows])
    return f"\n{title}\n\n{about}\n\n{table}\n"


def words_of(model: type[BaseModel]) -> dict[str, str]:
    """The text below each key in the source, those of inherited keys included."""
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if not issubclass(kind, BaseModel) or kind is BaseModel:
            continue
        body = ast.parse(dedent(inspect.getsource(kind))).body[0]
        assert isinstance(body, ast.ClassDef)
        for line, after in zip(body.body, body.body[1:], strict=False):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and is_text:
                found[line.target.id] = " ".join(str(after.value.value).split())  # type: ignore[attr-defined]
    return found


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _default(field: FieldInfo) -> str:
    """The value of a key that is not set."""
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined and field.default_factory is not None:
        value = field.default_factory()  # type: ignore[call-arg]
    if value is None or value in ("", (), {}, []):
        return "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple | list):
        return f"`[{', '.join(map(_quoted, value))}]`"
    return f"`{_quoted(value)}`"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    print(study_page(), end="")
