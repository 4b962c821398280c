"""How a trial of attention looks: letters made of letters, colour words in ink, or arrows beside an arrow.

The place of the right key, from the left, decides which letter, ink or arrow is to be answered to. What is to be
ignored is the same one, another one, or one that no key has. Of several others the next one counts.
"""

from __future__ import annotations

from typing import Final

LETTERS: Final = ("S", "O", "H")
"""Letters by the place of their key: left, middle, right."""
NO_LETTER: Final = "E"
"""Letter that has no key."""
INKS: Final = (("RED", "#c62828"), ("GREEN", "#2e7d32"), ("BLUE", "#1f4fb0"))
"""Words and inks by the place of their key."""
NO_WORD: Final = "XXXX"
ARROWS: Final = ("←", "↓", "→")
NO_ARROW: Final = "–"
_SHAPES: Final = {
    "S": ("11111", "10000", "10000", "11111", "00001", "00001", "11111"),
    "O": ("11111", "10001", "10001", "10001", "10001", "10001", "11111"),
    "H": ("10001", "10001", "10001", "11111", "10001", "10001", "10001"),
    "E": ("11111", "10000", "10000", "11110", "10000", "10000", "11111"),
}
"""Large letters on a grid of five columns and seven lines."""
COLUMN, LINE = 18, 20
"""Width and height of a cell of the grid, in units of the drawing."""


def distractor_of(right: int, congruence: int, places: tuple[int, ...]) -> int | None:
    """The place whose answer the distractor suggests; None where it suggests none.

    Args:
        right: Place of the right answer.
        congruence: As in `domains.attention.task.NUMBERS`.
        places: Those that have a key.
    """
    if congruence == 0:
        return None
    return right if congruence == 1 else places[(places.index(right) + 1) % len(places)]


def letters(right: int, other: int | None, level: int) -> str:
    """A large letter made of small ones; at ``level`` 1 the large one is asked for, at -1 the small ones."""
    target, distractor = LETTERS[right], NO_LETTER if other is None else LETTERS[other]
    large, small = (target, distractor) if level == 1 else (distractor, target)
    drawn = [
        f'<text x="{COLUMN * (column + 0.5):g}" y="{LINE * (line + 0.8):g}">{small}</text>'
        for line, row in enumerate(_SHAPES[large])
        for column, filled in enumerate(row)
        if filled == "1"
    ]
    return (
        f'<svg viewBox="0 0 {5 * COLUMN} {7 * LINE}" width="{5 * COLUMN * 1.5:g}" height="{7 * LINE * 1.5:g}" '
        'style="font:700 17px system-ui,sans-serif;text-anchor:middle" fill="currentColor">'
        f"{''.join(drawn)}</svg>"
    )


def colour_word(right: int, other: int | None) -> str:
    """A colour word; its ink is asked for."""
    word = NO_WORD if other is None else INKS[other][0]
    return (
        '<p style="font:700 56px system-ui,sans-serif;letter-spacing:2px;margin:0;'
        f'color:{INKS[right][1]}">{word}</p>'
    )


def arrows(right: int, other: int | None) -> str:
    """An arrow between arrows that are to be ignored."""
    beside = (NO_ARROW if other is None else ARROWS[other]) * 2
    return (
        '<p style="font-family:system-ui,sans-serif;font-size:40px;letter-spacing:6px;margin:0">'
        f'<span style="color:#555">{beside}</span><b>{ARROWS[right]}</b>'
        f'<span style="color:#555">{beside}</span></p>'
    )
