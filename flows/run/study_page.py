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

HEAD = """# Every setting of a study

Made from the code by `python -m lakatos.flows.run.study_page > docs/study.md`; the tests hold it to that. A study is a
TOML file: keys without a section stand above all sections. What is left out has the value in the third column. An
unknown key is refused with the nearest known one. `studies/schema.json` says the same to editors.
"""
ELSEWHERE = {"programs", "domain_file", "answers"}
"""Keys that a study file does not have: they are filled in when it is read."""


def study_page() -> str:
    """The page as Markdown."""
    sections = "".join(_section(name, model) for name, model in _models("", CampaignConfig))
    return f"{HEAD}{sections}"


def _models(name: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """A section and the sections in it, each with its name."""
    yield name, model
    for key, field in model.model_fields.items():
        if (own := _model_in(field.annotation)) is not None and key not in ELSEWHERE:
            inside = f"{name}.{key}" if name else key
            many = ".NAME" if _is_table_of(field.annotation) else ""
            yield from _models(f"{inside}{many}", own)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The section that a key holds, if it holds one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)


def _is_table_of(annotation: Any) -> bool:
    """Whether a key holds sections by names of one's own."""
    return getattr(annotation, "__origin__", None) in (dict, tuple)


def _section(name: str, model: type[BaseModel]) -> str:
    """One section: what it is about, and a table of its keys."""
    said = " ".join((inspect.getdoc(model) or "").split("\n\n")[0].split())
    words = _words_of(model)
    rows = []
    for key, field in model.model_fields.items():
        if key in ELSEWHERE or _model_in(field.annotation) is not None:
            continue
        rows.append(f"| `{key}` | {_cell(words.get(key, ''))} | {_default(field)} |")
    if not rows:
        return ""
    title = f"## `[{name}]`" if name else "## Above all sections"
    table = "\n".join(["| key | what it is | otherwise |", "| --- | --- | --- |", *rows])
    return f"\n{title}\n\n{said}\n\n{table}\n"


def _words_of(model: type[BaseModel]) -> dict[str, str]:
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
    """What holds where the key is left out."""
    if field.is_required():
        return "needed"
    value = field.default
    if value is PydanticUndefined and field.default_factory is not None:
        value = field.default_factory()  # type: ignore[call-arg]
    if value is None or value in ("", (), {}, []):
        return "nothing"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple | list):
        return f"`[{', '.join(map(_quoted, value))}]`"
    return f"`{_quoted(value)}`"


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    print(study_page(), end="")
