"""Pages made from templates: everything escaped, nothing undefined, no character that garbles a text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lakatos.experiments.interval import LEAST_UNITS
from lakatos.flows.report.formats import FILTERS
from lakatos.flows.report.reader import clean
from lakatos.theories.engine.scoring.score import LEAST_OF_INTERVAL
from lakatos.theories.findings.verdicts.headline import MISFIT_RATIO

TEMPLATES = Path(__file__).parent / "templates"
"""Templates of the report, and of what it shares with other pages."""

HYPHEN_OF_NUMBER = re.compile(r"(?<![\w.,:/-])-(?=\d+(?![\w-]))")


def page_environment(*folders: Path) -> Environment:
    """Make an environment for the templates in some folders, and after them in `TEMPLATES`."""
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_cleaned,
    )
    environment.filters |= FILTERS
    environment.globals |= {
        "least_units": LEAST_UNITS,
        "least_of_interval": LEAST_OF_INTERVAL,
        "misfit_ratio": MISFIT_RATIO,
    }
    return environment


def _cleaned(value: Any) -> Any:
    """Text without control characters and with signs of numbers; markup was made from clean text."""
    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return with_minus(clean(value)) if is_text else value


def with_minus(text: str) -> str:
    """A text whose negative numbers have a minus sign, as those of tables, in place of a hyphen."""
    return HYPHEN_OF_NUMBER.sub("−", text)
