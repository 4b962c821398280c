"""The vault of an anchor set: how good the judges of a run are on comparisons that nobody has looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lakatos.flows.run.anchor_ledger import SUFFIX, AnchorLedger
from lakatos.flows.run.run import read_state
from lakatos.flows.stages.judging.anchor import anchor_of, ledger_of
from lakatos.flows.stages.judging.seats import present_judges
from lakatos.judges.anchor import AnchorItem
from lakatos.judges.answer import anchor_accuracy, ask
from lakatos.judges.errors import AnchorError
from lakatos.judges.judge import Judge
from lakatos.judges.ledger import VaultReported


def open_vault(folder: Path) -> VaultReported:
    """Hold the judges of a run's panel against the labels of the vault; once for an anchor set, on record.

    What shares trials or people with the campaign is left out, as for its gate. Where the comparisons were simulated
    for the campaign, the record lies in the run's folder.

    Args:
        folder: Folder of the run.

    Raises:
        AnchorError: The run has no anchor set, or its file cannot be read.
        VaultError: The vault was opened before; says what was found.
        LedgerError: The ledger beside the anchor file cannot be relied on.
    """
    state, trace = read_state(folder)
    with trace:
        if not state.seats.anchors or state.campaign.config is None:
            raise AnchorError(
                f"the judges of {folder} answer to no anchor set, so that there is no vault; name one in judges.anchor."
            )
        anchor = anchor_of(trace.artifacts, state.seats.anchors[0].record)
        judges = present_judges(state, trace.artifacts)
    beside = AnchorLedger.of(folder / f"anchor{SUFFIX}", anchor)
    ledger = ledger_of(state.campaign.config) or beside

    def report(items: Sequence[AnchorItem]) -> VaultReported:
        return VaultReported(campaign=folder.name, told=_told(judges, items))

    return ledger.open_vault(anchor, [judge.digest for judge in judges.values()], report)


def _told(judges: Mapping[str, Judge], items: Sequence[AnchorItem]) -> dict[str, str]:
    return {name: found for name, judge in judges.items() if (found := _words(judge, items))}


def _words(judge: Judge, items: Sequence[AnchorItem]) -> str:
    """Right answers and Brier score of one judge with 95% intervals; empty where it answers nothing."""
    right = anchor_accuracy(judge, items)
    if right is None:
        return ""
    given = ask(judge, [item.submission for item in items]).probability
    losses = (given - np.array([item.label for item in items])) ** 2
    losses = losses[~np.isnan(losses)]
    error = 1.96 * losses.std() / np.sqrt(len(losses))
    return (
        f"right on {right['right']:.1%} of {right['n']} items of the vault (95% interval {right['low']:.1%} to "
        f"{right['high']:.1%}), Brier score {losses.mean():.3f} ({losses.mean() - error:.3f} to "
        f"{losses.mean() + error:.3f})"
    )
