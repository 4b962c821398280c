"""The flags that an installed vLLM knows, read from its own ``--help``.

vLLM renames flags between releases, and some old names are taken and ignored. A profile that asks for a flag that the
installed release does not list is refused before anything is started.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lakatos.language_models.serving.errors import ProfileError

HEADING = re.compile(r"^  (-.*)$", re.MULTILINE)
NAME = re.compile(r"(?:^|, )(--?[a-zA-Z0-9][\w-]*)")
CHOICES = re.compile(r"\{([^{}]*)\}(?! or )")
GONE = re.compile(
    r"(?:is deprecated and (?:has no effect|will be removed)|\[deprecated\])", re.IGNORECASE
)


@dataclass(frozen=True)
class ServerFlag:
    """One flag as the server describes it."""

    name: str
    takes_value: bool
    choices: tuple[str, ...] = ()
    """Values that it takes; empty where anything goes."""
    without_effect: bool = False
    """The server says that it is ignored or about to go."""


def read_flags(help_text: str) -> dict[str, ServerFlag]:
    """Every name in the output of ``--help=all``, aliases and negations included."""
    found: dict[str, ServerFlag] = {}
    headings = list(HEADING.finditer(help_text))
    for number, match in enumerate(headings):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(help_text)
        signature = re.split(r"  +", match[1], maxsplit=1)[0]
        body = help_text[match.start() : end]
        choices = CHOICES.search(signature)
        bare = CHOICES.sub(" ", signature)
        takes_value = bool(choices or re.search(r"--?[\w-]+ \S", re.sub(r", -", ",-", bare)))
        for name in NAME.findall(bare):
            gone = any(name in line for line in _sentences(body) if GONE.search(line))
            found[name] = ServerFlag(
                name, takes_value, tuple(choices[1].split(",")) if choices else (), gone
            )
    return found


def check_flags(
    asked: Mapping[str, str | None], known: Mapping[str, ServerFlag], version: str
) -> None:
    """Raise unless the server knows every flag and, where it lists them, every value.

    Args:
        asked: Flag to value; None where it takes none.
        known: Flags from `read_flags`.
        version: Version of the server, for the message.

    Raises:
        ProfileError: A flag is unknown, ignored, or has a value that the server does not list.
    """
    wrong = [text for name, value in asked.items() if (text := _what_is_wrong(name, value, known))]
    if wrong:
        raise ProfileError(
            f"vLLM {version} cannot be started so: {'; '.join(wrong)}. Mend the profile."
        )


def _what_is_wrong(name: str, value: str | None, known: Mapping[str, ServerFlag]) -> str:
    flag = known.get(name)
    if flag is None:
        return f"it has no flag {name}{_closest(name, known)}"
    if flag.without_effect:
        return f"it ignores {name}"
    if value is None and flag.takes_value:
        return f"{name} needs a value"
    if value is not None and not flag.takes_value:
        return f"{name} takes no value, but got {value!r}"
    if value is not None and flag.choices and value not in flag.choices:
        return f"{name} cannot be {value!r}{_closest(value, flag.choices)}"
    return ""


def _closest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), 3, 0.5)
    return f" (closest: {', '.join(close)})" if close else ""


def _sentences(body: str) -> list[str]:
    return re.sub(r"\s+", " ", body).split(". ")
