"""Pages of the site that are made from the code: kinds of tasks, settings of a study, commands and records.

READMEs of the folders `domains` and `studies` are in the repository; the others are made during the build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from lakatos.flows.commands.lazy import LazyCommand
from lakatos.flows.commands.main import PANELS, app
from lakatos.flows.run.records import RECORD_TYPES, EarlierRecord
from lakatos.flows.run.study_page import words_of
from lakatos.flows.run.variables import VARIABLES

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    pages = {"commands.md": commands_page(), "records.md": records_page()}
    pages["study.md"] = (ROOT / "studies" / "README.md").read_text(encoding="utf-8")
    for readme in (ROOT / "domains" / "README.md", *sorted(ROOT.glob("domains/*/README.md"))):
        name = "index" if readme.parent.name == "domains" else readme.parent.name
        text = readme.read_text(encoding="utf-8").replace("/README.md)", ".md)")
        pages[f"domains/{name}.md"] = text
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    return files


def commands_page() -> str:
    """Every command with its arguments, options and examples, and the environment variables."""
    root = typer.main.get_command(app)
    parts = [
        "# Commands\n\n`lakatos --help` lists all commands, and `lakatos COMMAND --help` explains one."
    ]
    for panel, noun in PANELS.items():
        parts.append(f"## {panel}")
        for name in noun.commands:
            parts += _command_parts(root.commands[name], f"lakatos {name}")  # type: ignore[attr-defined]
    rows = [f"| `{name}` | {meaning} |" for name, meaning in VARIABLES.items()]
    parts += [
        "## Environment variables",
        "\n".join(["| variable | meaning |", "| --- | --- |", *rows]),
    ]
    return "\n\n".join(parts) + "\n"


def _command_parts(command: Any, name: str) -> Iterator[str]:
    """The paragraphs about a command, or about the commands below a word."""
    if command.hidden:
        return
    if not isinstance(command, LazyCommand):
        for below, item in getattr(command, "commands", {}).items():
            yield from _command_parts(item, f"{name} {below}")
        return
    loaded = command.loaded()
    words = [
        (item.metavar or item.name).upper()
        for item in loaded.params
        if item.param_type_name == "argument"
    ]
    yield f"### `{' '.join([name, *words])}`"
    yield _plain(loaded.help)
    rows = [
        f"| `{', '.join(item.opts)}` | {_plain(getattr(item, 'help', '')).replace('|', '/')} |"
        for item in loaded.params
        if item.name != "help"
    ]
    if rows:
        yield "\n".join(["| argument or option | meaning |", "| --- | --- |", *rows])
    examples = [line.strip() for line in _plain(loaded.epilog).splitlines()[1:] if line.strip()]
    if examples:
        yield "\n".join(f"    {line}" for line in examples)


def records_page() -> str:
    """Every kind of record with its fields."""
    parts = [
        "# Records\n\nA run's journal consists of these records. Field types are in the class of each record."
    ]
    for kind, record in sorted(RECORD_TYPES.items()):
        if record is EarlierRecord:
            continue
        about = " ".join((record.__doc__ or "").partition("\n\n")[0].split())
        words = words_of(record)
        fields = [
            f"| `{name}` | {words.get(name, '').replace('|', '/')} |"
            for name in record.model_fields
            if name not in ("kind", "version")
        ]
        parts += [f"## `{kind}`", f"{about} (`{record.__module__}`)"]
        if fields:
            parts.append("\n".join(["| field | meaning |", "| --- | --- |", *fields]))
    return "\n\n".join(parts) + "\n"


def _plain(text: str | None) -> str:
    """Help of the command line without the marks of a terminal, and safe in Markdown."""
    return re.sub(r"\[/?bold\]", "", text or "").replace("\\[", "[").replace("<", "&lt;")
