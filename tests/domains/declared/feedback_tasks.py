"""Declared tasks with feedback for tests: a bandit, attributes that foretell what comes, and pairs of four options."""

from __future__ import annotations

BANDIT = """
name = "decks"
question = "From which deck do you draw?"
options = ["Red", "Blue"]
instructions = ["Draw cards."]

[feedback]
unit = "points"
steps = 24

[feedback.outcomes.Red]
amounts = [10, 0]
chances = [0.7, 0.3]

[feedback.outcomes.Blue]
amounts = [10, 0]
chances = [0.3, 0.7]
"""
WEATHER = """
name = "plants"
question = "Which plant do you water?"
options = ["left", "right"]
instructions = ["Plants grow by what they are."]

[attributes.height]
kind = "number"
label = "Height"
unit = "cm"
levels = [0, 10, 20, 30]
better = "more"

[attributes.leaf]
kind = "category"
label = "Leaf"
levels = ["round", "pointed"]

[feedback]
shows = "all"
unit = "€"
steps = 30
base = -2
noise = 0.5
decimals = 1

[feedback.weights]
height = 0.1
leaf = { round = 0, pointed = 2 }
"""
PAIRS = """
name = "symbols"
question = "Which symbol do you take?"
options = ["sun", "moon", "star", "cloud"]
instructions = ["Some symbols pay more."]

[feedback]
unit = "coins"
steps = 24
blocks = 2
offered = 2
reversal_every = 6
mixed = true

[feedback.outcomes]
sun = { amounts = [5, -5], chances = [0.8, 0.2] }
moon = { amounts = [5, -5], chances = [0.6, 0.4] }
star = { amounts = [5, -5], chances = [0.4, 0.6] }
cloud = { sequence = [5, -5, -5, -5, 5, -5, -5, -5, 5, -5, -5, -5, 5, -5, -5, -5, 5, -5, -5, -5, 5, -5, -5, -5] }
"""
KEYS = """
name = "keys"
question = "Do you press the key?"
options = ["wait", "press"]
instructions = ["Each shape has its own best response."]

[feedback]
unit = "points"
steps = 24
go = "press"

[feedback.by_cue.circle]
wait = { amounts = [1, 0], chances = [0.2, 0.8] }
press = { amounts = [1, 0], chances = [0.8, 0.2] }

[feedback.by_cue."black square"]
wait = { amounts = [0, -1], chances = [0.8, 0.2] }
press = { amounts = [0, -1], chances = [0.2, 0.8] }
"""
TASKS = {"bandit": BANDIT, "weather": WEATHER, "pairs": PAIRS, "keys": KEYS}


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A text with parts replaced."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text
