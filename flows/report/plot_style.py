"""How plots that Matplotlib draws look: those of the atlas and of `lakatos transfer`, which are files of their own."""

from __future__ import annotations

from typing import Any

INK, MUTED, RULE, PAPER = "#111112", "#777771", "#dddde1", "#fefefd"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's colours, which most people can tell apart."""
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lakatos",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.size": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": RULE,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}
