"""Facts of a run for the researcher's page: rules of exclusion, and payments."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.experiments.participants.prolific.ledger import PaymentLedger
from lakatos.experiments.participants.web.overview import DeskSettings
from lakatos.flows.errors import RunMissingError, UnusableError
from lakatos.flows.run.next_pass import runs_in
from lakatos.flows.run.places import check_collects
from lakatos.flows.run.study import CampaignConfig
from lakatos.traces.errors import InboxError, JournalError
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE
from lakatos.traces.stores import located

PLAIN_ADDRESS: Final = re.compile(r"[A-Za-z0-9:/._~%\[\]-]+")
"""Characters of an address without a query, a fragment or a user."""


def check_public(address: str) -> None:
    """Refuse what is no address of a page; participants would be sent there.

    Raises:
        UnusableError: It has no scheme of the web, no host, or more than a path.
    """
    try:
        parts = urlsplit(address)
        is_page = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_page = False
    if not is_page or not PLAIN_ADDRESS.fullmatch(address):
        raise UnusableError(
            f"{address!r} is no address of a page; give one such as https://study.example.org."
        )


def desk_settings(folder: Path) -> DeskSettings:
    """Preregistered exclusions of a run, and its books; the journal is read and never written."""
    try:
        with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
            config = CampaignConfig.model_validate(journal.meta["study"])
    except (JournalError, KeyError, ValueError):
        return DeskSettings(pay=lambda: pay_of(folder))
    return DeskSettings(config.exclusions.rules, lambda: pay_of(folder))


def page_runs(runs: Path) -> list[Path]:
    """Runs that ask people on the page of this folder and have not concluded, the newest first."""
    found = [folder for folder in runs_in(runs) if _asks_on_page(folder) and not _concluded(folder)]
    return sorted(
        found, key=lambda folder: located(folder / JOURNAL_FILE).stat().st_mtime, reverse=True
    )


def _concluded(folder: Path) -> bool:
    from lakatos.flows.run.next_pass import look

    found = look(folder)
    return found.ended == "concluded" and not found.due


def page_folder(runs: Path, name: str) -> Path | None:
    """The folder of the run of this name, if its people answer on the page of this folder, also where it has ended."""
    folder = runs / name
    return folder if located(folder / JOURNAL_FILE).exists() and _asks_on_page(folder) else None


def _asks_on_page(folder: Path) -> bool:
    with contextlib.suppress(JournalError, InboxError):
        check_collects(folder)
        return _is_on_page(_source_of(folder))
    return False


def _is_on_page(source: str) -> bool:
    """Whether the participants of a source respond on the page."""
    return source in SOURCES and SOURCES[source].profile.on_page


def _source_of(folder: Path) -> str:
    """Name of the source of a run's participants; empty where its journal does not say."""
    try:
        with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
            return str(journal.meta["study"]["participants"]["source"])
    except (JournalError, KeyError, TypeError):
        return ""


def check_asks_on_page(folder: Path) -> None:
    """Raise `RunMissingError` where a run's people do not take part on a page: nobody would take the responses."""
    source = _source_of(folder)
    if source and not _is_on_page(source):
        raise RunMissingError(
            f"the run {folder} has no participant page: its source is {source!r}. Name a run whose study has "
            '`source = "web"` in [participants]; `lakatos design STUDY` shows trials beforehand.'
        )


def check_admits(folder: Path) -> None:
    """Refuse invitations to a run in which nobody can take part any more.

    Raises:
        UnusableError: It has concluded, or its last design was refused, so that no experiment will open.
    """
    from lakatos.flows.run.run import read_state

    state, trace = read_state(folder)
    trace.close()
    designs = [item.record for item in state.experiments.designs.values()]
    if state.campaign.concluded is not None:
        reason = "it has concluded"
    elif designs and not (state.experiments.recruited or any(item.accepted for item in designs)):
        reason = f"no experiment was opened, because its design was refused ({designs[-1].reason})"
    else:
        return
    raise UnusableError(
        f"nobody can take part in the run {folder}: {reason}. No links were made; `lakatos status {folder}` shows how "
        "it ended."
    )


def pay_of(folder: Path) -> dict[str, str]:
    """Payments due to participants of a recruitment service, and payments made, without the service's fees."""
    if not (folder / LEDGER_FILE).exists():
        return {}
    found = {"due": 0, "paid": 0}
    currency = ""
    with PaymentLedger(folder / LEDGER_FILE) as ledger:
        for name in ledger.experiments():
            for payment in ledger.account(name).payments:
                found["paid" if payment.state == "paid" else "due"] += payment.amount.minor
                currency = payment.amount.currency
    return (
        {word: f"{minor / 100:.2f} {currency}" for word, minor in found.items()} if currency else {}
    )
