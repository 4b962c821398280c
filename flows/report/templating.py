"""Pages made from templates: everything escaped, nothing undefined, no character that garbles a text."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lakatos.flows.report.reader import clean

TEMPLATES = Path(__file__).parent / "templates"
"""Of the report and of the comparison of a sweep."""


def page_environment(folder: Path) -> Environment:
    """For the templates in a folder."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: (
            value if isinstance(value, Markup) or not isinstance(value, str) else clean(value)
        ),
    )
