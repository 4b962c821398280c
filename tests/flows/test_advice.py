"""Advice in the form of the caller."""

from __future__ import annotations

import pytest

from lakatos.flows.advice import by_command, in_callers_words


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("say --column order=TRIAL.", 'say columns={"order": "TRIAL"}.'),
        ("(--column order=).", '(columns={"order": ""}).'),
        ("say --accept row_order)", 'say columns={"accept": ["row_order"]})'),
        ("--column KEY=COLUMN says", 'columns={"KEY": "COLUMN"} says'),
        (
            "--column responses.a=1 --column responses.b=0, or",
            'columns={"responses": {"a": 1, "b": 0}}, or',
        ),
        (
            "nothing won (--column 'recode.r={win = 1, loss = 0}') or",
            'nothing won (columns={"recode": {"r": {"win": 1, "loss": 0}}}) or',
        ),
        ("--column options=2 is", 'columns={"stimulus": {"options": 2}} is'),
        ("say --column item=word.", 'say columns={"stimulus": {"item": "word"}}.'),
        (
            "say --column item=word --column items=words.csv.",
            'say columns={"item": "word", "items": "words.csv"}.',
        ),
        (
            "--column 'recode.cue={\"+\" = 1}', or",
            'columns={"recode": {"cue": {"+": 1}}}, or',
        ),
        ("no option of a command", "no option of a command"),
    ],
)
def test_options_of_commands_are_arguments_for_callers_from_python(said: str, wanted: str) -> None:
    assert in_callers_words(said) == wanted
    with by_command():
        assert in_callers_words(said) == said
    assert in_callers_words(said) == wanted
