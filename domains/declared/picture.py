"""How trials of a declared task look: a table with a column for each option and a line for each attribute."""

from __future__ import annotations

import zlib
from collections.abc import Container, Mapping
from html import escape
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.declared.declaration import TaskAttribute, TaskDeclaration, as_shown
from lakatos.domains.declared.fragment import fragment
from lakatos.domains.declared.presentation_declaration import digest_in, file_in

Array = NDArray[Any]
FIELD = 240
"""Side of a field of dots, in the units of its drawing."""
LARGEST_RADIUS = 8
CELL = "padding:8px 12px;text-align:center;vertical-align:middle"
NARROW = "padding:3px 12px;text-align:center;vertical-align:middle"
MOST_SIDE_BY_SIDE = 6
LINE = "border-bottom:1px solid #ddd"
LABEL = "font-weight:normal;color:#555"


def draw(task: TaskDeclaration, values: Mapping[str, Array], without: Container[str] = ()) -> str:
    """One trial as HTML without scripts; empty if nothing of it is to be shown.

    Args:
        task: Says how attributes are drawn.
        values: ``(n_options,)`` for each attribute.
        without: Attributes that are not to be shown.
    """
    shown = {
        name: item
        for name, item in task.attributes.items()
        if item.show != "dot_size" and name not in without
    }
    if not shown:
        return ""
    n_options = len(task.options)
    if n_options > MOST_SIDE_BY_SIDE:
        return _draw_below_one_another(task, values, shown)
    # A field of dots speaks for itself where there is nothing else.
    labelled = any(item.show != "dots" for item in shown.values())
    # Of three options and more, labels stand above their line, so that all columns fit on a phone.
    beside = labelled and n_options == 2
    heads = "".join(
        f'<th scope="col" style="{CELL};{LINE};font-weight:600">{escape(label)}</th>'
        for label in task.options
    )
    lines = []
    for name, attribute in shown.items():
        label = escape(attribute.label)
        if labelled and not beside:
            lines.append(
                f'<tr><th colspan="{n_options}" style="{LABEL};padding-top:8px">{label}</th></tr>'
            )
        cells = "".join(
            f'<td style="{CELL};{LINE}">{_cell(task, name, values, place)}</td>'
            for place in range(n_options)
        )
        if beside:
            cells = (
                f'<th scope="row" style="{CELL};{LINE};{LABEL};text-align:left">{label}</th>{cells}'
            )
        lines.append(f"<tr>{cells}</tr>")
    corner = f'<td style="{CELL};{LINE}"></td>' if beside else ""
    return (
        '<table style="border-collapse:collapse;font-family:system-ui,sans-serif;color:#222;margin:0 auto;'
        f'max-width:760px"><thead><tr>{corner}{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    )


def _draw_below_one_another(
    task: TaskDeclaration, values: Mapping[str, Array], shown: Mapping[str, TaskAttribute]
) -> str:
    """Many options as lines of a table, with a column for each attribute."""
    heads = "".join(
        f'<th scope="col" style="{CELL};{LINE};{LABEL}">{escape(item.label)}</th>'
        for item in shown.values()
    )
    lines = []
    for place, label in enumerate(task.options):
        cells = "".join(
            f'<td style="{NARROW};{LINE}">{_cell(task, name, values, place)}</td>' for name in shown
        )
        lines.append(
            f'<tr><th scope="row" style="{NARROW};{LINE};text-align:left">{escape(label)}</th>{cells}</tr>'
        )
    return (
        '<table style="border-collapse:collapse;font-family:system-ui,sans-serif;color:#222;margin:0 auto;'
        f'max-width:760px"><thead><tr><td style="{LINE}"></td>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _cell(task: TaskDeclaration, name: str, values: Mapping[str, Array], place: int) -> str:
    """One attribute of one option."""
    attribute, value = task.attributes[name], float(values[name][place])
    if attribute.show == "dots":
        return _dots(task, name, values, place)
    if attribute.file_name(value):
        words = as_shown(attribute, value)
        return file_shown(task, attribute.file_name(value), words, f"{name}_{place + 1}")
    if attribute.show == "stars":
        top = int(attribute.highest)
        stars = "★" * int(value) + "☆" * (top - int(value))
        words = escape(as_shown(attribute, value))
        return f'<span role="img" aria-label="{words}" style="letter-spacing:-1px">{stars}</span>'
    if attribute.show == "bar":
        return _bar(attribute, value)
    return f"<span>{escape(as_shown(attribute, value))}</span>"


def draw_attribute(task: TaskDeclaration, name: str, values: Mapping[str, Array]) -> str:
    """One attribute of all options side by side; once if it is the same for all, which fields of dots never are."""
    differs = task.attributes[name].show == "dots" or len(set(values[name].tolist())) > 1
    places = range(len(task.options) if differs else 1)
    cells = "".join(f"<div>{_cell(task, name, values, place)}</div>" for place in places)
    return f'<div style="display:flex;gap:24px;justify-content:center;align-items:center">{cells}</div>'


def file_shown(task: TaskDeclaration, file: str, words: str, name: str) -> str:
    """A file as the page shows it; its words alone if the declaration is read without its files.

    Args:
        task: Holds the file.
        file: As the declaration names it.
        words: For participants who do not see or hear it.
        name: Of its times in tables, if it is a sound or film. The page puts the player in this place.
    """
    words = escape(words)
    address = task.embedded.get(file)
    if address is None:
        return f"<span>{words}</span>"
    kind, data = file_in(address)
    if kind == "text/html":
        return f"<div>{fragment(data.decode())}</div>"
    if kind.startswith("image/"):
        look = "display:block;width:160px;max-width:100%;height:auto;margin:0 auto"
        return f'<img src="{address}" alt="{words}" style="{look}">'
    sign = "♪" if kind.startswith("audio/") else "▶"
    return (
        f'<span class="medium" data-medium="{digest_in(address)}" data-name="{name}" role="img" aria-label="{words}">'
        f"{sign} {words}</span>"
    )


def _bar(attribute: TaskAttribute, value: float) -> str:
    """A number over a bar that is as long as the number is large; from 0 where all numbers are positive."""
    start = min(attribute.lowest, 0.0)
    share = (value - start) / ((attribute.highest - start) or 1.0)
    return (
        f"<div>{escape(as_shown(attribute, value))}</div>"
        '<div style="width:110px;max-width:20vw;height:10px;margin:4px auto 0;background:#e8e8e8;border-radius:5px">'
        f'<div style="width:{100 * share:.1f}%;height:10px;background:#4a7ebb;border-radius:5px"></div></div>'
    )


def _dots(task: TaskDeclaration, name: str, values: Mapping[str, Array], place: int) -> str:
    """Dots strewn over a square without touching, the same whenever the trial is shown."""
    attribute, n_dots = task.attributes[name], round(float(values[name][place]))
    n_cells = ceil(sqrt(1.5 * attribute.highest))
    cell = FIELD / n_cells
    size = next((own for own, item in task.attributes.items() if item.show == "dot_size"), "")
    share = float(values[size][place]) / LARGEST_RADIUS if size else 0.6
    radius = 0.45 * cell * share
    shown = np.concatenate([np.asarray(item, dtype=np.float64) for item in values.values()])
    rng = np.random.default_rng(zlib.crc32(shown.tobytes() + bytes([place])))
    chosen = rng.choice(n_cells**2, size=n_dots, replace=False)
    free = max(0.5 * cell - radius, 0.0)
    shift = rng.uniform(-free, free, size=(n_dots, 2))
    across = (chosen % n_cells + 0.5) * cell + shift[:, 0]
    down = (chosen // n_cells + 0.5) * cell + shift[:, 1]
    circles = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
        for x, y in zip(across, down, strict=True)
    )
    return (
        f'<svg viewBox="0 0 {FIELD} {FIELD}" role="img" aria-label="a field of dots" '
        'style="width:100%;min-width:80px;max-width:240px;background:#fff;border:1px solid #bbb" fill="#222">'
        f"{circles}</svg>"
    )
