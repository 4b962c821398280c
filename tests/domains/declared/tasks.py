"""Declared tasks for tests: small changes of one text."""

from __future__ import annotations

from pathlib import Path

STUDIES = Path(__file__).resolve().parents[3] / "studies"
EXAMPLES = ("fairness", "dots", "glimpse", "menu", "giving", "sharing")
WITH_FEEDBACK = ("cards", "keys", "plants")

GIFTS = """
name = "gifts"
question = "Which gift do you take?"
options = ["left", "right"]
instructions = ["Choose a gift."]

[attributes.worth]
kind = "amount"
label = "Worth"
unit = "€"
levels = [1, 2, 4, 8]
better = "more"

[attributes.wrapping]
kind = "category"
label = "Wrapping"
levels = ["plain", "red", "gold"]
"""


def gifts(*changes: tuple[str, str], add: str = "") -> str:
    """The task `GIFTS` with parts of its text replaced, and more at its end."""
    text = GIFTS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text + add


def example(name: str) -> str:
    """A declaration that comes with the package."""
    return (STUDIES / "tasks" / f"{name}.toml").read_text()
