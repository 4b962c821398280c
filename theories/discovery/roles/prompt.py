"""Prompts are files beside the code, versioned by the digest of their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lakatos.traces.digest import Digest, digest_bytes

FOLDER = Path(__file__).resolve().parent
_INSERT = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class RolePrompt:
    """Instructions of a role, the same for every question."""

    name: str
    text: str

    @property
    def version(self) -> Digest:
        """Digest of the text, with everything inserted."""
        return digest_bytes(self.text.encode())


@cache
def read_prompt(name: str, folder: Path = FOLDER) -> RolePrompt:
    """The prompt in ``folder/name.md``; ``{{other}}`` stands for the text of ``other.md`` beside it.

    Raises:
        FileNotFoundError: The installation lacks the file.
    """
    text = (folder / f"{name}.md").read_text(encoding="utf-8").strip()
    return RolePrompt(name, _INSERT.sub(lambda found: read_prompt(found[1], folder).text, text))
