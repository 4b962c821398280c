"""The commands of ``lakatos prolific``: recruit people through Prolific to the laboratory's own page.

Nothing is published without the study's name, or its exact cost, typed by a person, and a limit that is never passed.
The token is read from the environment variable ``PROLIFIC_TOKEN`` and kept nowhere.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunName, RunsFolder
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run
from lakatos.traces.files import read_named

if TYPE_CHECKING:
    from lakatos.experiments.participants.prolific.clerk import ProlificClerk
    from lakatos.experiments.participants.prolific.ledger import PaymentLedger, SubmissionEntry
    from lakatos.experiments.participants.prolific.money import Money
    from lakatos.experiments.participants.prolific.plan import RecruitmentPlan
    from lakatos.experiments.participants.prolific.recruiter import Action
    from lakatos.flows.errors import FlowError

ExperimentName = Annotated[
    str, Argument(help="Experiment of the run; the last one planned by default.")
]
LOCK_FILE = "prolific.lock"


def plan(settings: Path, run_name: RunName = "", *, runs: RunsFolder = Path("runs")) -> None:
    """Record a recruitment plan; print the study as Prolific will receive it, and its maximum cost.

    In Python: `experiments.participants.prolific.plan.make_plan(settings)`.

    Args:
        settings: TOML file with the requirements for participants and their payment.

    Examples:
        $ lakatos prolific plan prolific.toml mine-1
    """
    from lakatos.experiments.participants.prolific.plan import load_settings, make_plan

    wanted = load_settings(settings)
    with _books(run_name, runs, begins=True) as (_, ledger):
        made = make_plan(wanted, earlier=ledger.studies())
        ledger.keep_plan(made)
    print(json.dumps(made.draft(), indent=1, ensure_ascii=False))
    _print_cost(made)
    Console(stderr=True, highlight=False).print(
        "Publishing hands these codes to the page, which shows people the one for how their visit ended. Nothing is on "
        f"the service yet. Next: lakatos prolific publish --limit {made.total_cost.major}",
        soft_wrap=True,
    )


def publish(
    run_name: RunName = "",
    *,
    limit: str,
    runs: RunsFolder = Path("runs"),
    experiment: ExperimentName = "",
    yes_spend: str = "",
) -> None:
    """Create the study on Prolific and admit participants up to a limit; call it again to change the limit.

    In Python: `ProlificClerk.publish(confirm(plan, limit, typed_name=...))`.

    Args:
        limit: Maximum total cost including fees, such as 250.00.
        yes_spend: Exact total cost of the plan, instead of typing the name of the study.

    Examples:
        $ lakatos prolific publish taste-1 --limit 250.00
    """
    from lakatos.experiments.participants.prolific.plan import confirm

    with _at_work(run_name, runs, experiment) as clerk:
        planned = clerk.plan
        if clerk.account.state in (None, "UNPUBLISHED"):
            check_page(find_run(run_name, runs), planned)
        most = planned.settings.money(limit)
        _print_cost(planned)
        if yes_spend:
            confirmation = confirm(planned, most, typed_cost=planned.settings.money(yes_spend))
        else:
            prompt = f"To publish it and spend up to {most}, type the name {planned.name!r}"
            confirmation = confirm(planned, most, typed_name=typer.prompt(prompt, err=True))
        study = clerk.publish(confirmation)
    Console().print(f"study {study.id}: {study.state}, {study.places} places, limit {most}")


def status(
    run_name: RunName = "",
    *,
    runs: RunsFolder = Path("runs"),
    experiment: ExperimentName = "",
    poll: bool = True,
) -> None:
    """Show the state of a study on Prolific and its accounts; nothing is changed there.

    In Python: `ProlificClerk.poll()`.

    Args:
        poll: Query the service first; otherwise the stored state is shown.

    Examples:
        $ lakatos prolific status taste-1
    """
    from lakatos.experiments.participants.prolific.recruiter import Review

    with _at_work(run_name, runs, experiment, needs_token=poll) as clerk:
        if poll:
            clerk.poll()
        _print_books(clerk)
        _print_withheld(clerk)
        _print_actions(tuple(action for action in clerk.decide() if isinstance(action, Review)))


def pay(
    run_name: RunName = "",
    *,
    runs: RunsFolder = Path("runs"),
    experiment: ExperimentName = "",
    bonus: Path | None = None,
    approve: list[str] | None = None,
    bulk_paid: list[int] | None = None,
    bulk_unpaid: list[int] | None = None,
    dry_run: bool = False,
    watch: Annotated[int, Argument(least=0)] = 0,
    stop: bool = False,
    stop_when_ended: bool = False,
) -> None:
    """Approve completed submissions, replace participants who dropped out, and pay bonuses, within the limit.

    In Python: `ProlificClerk.work()`.

    Args:
        bonus: CSV with the columns person (the pseudonym) and amount (pounds or dollars).
        approve: Also approve this submission, which was left for review.
        bulk_paid: Mark this batch of bonuses as paid, as confirmed on the service.
        bulk_unpaid: Mark this batch as not paid, as confirmed on the service; a new batch is made.
        dry_run: Print the actions, and carry out none.
        watch: Repeat at this interval in seconds until stopped.
        stop: Close the study to new participants permanently, then pay the completed submissions.
        stop_when_ended: Stop the study on Prolific when collection has ended; by default it is paused and a message
            is printed.

    Examples:
        $ lakatos prolific pay mine-1 --dry-run
    """
    with _at_work(
        run_name, runs, experiment, bonus=bonus, stop_when_ended=stop_when_ended
    ) as clerk:
        if dry_run:
            clerk.poll()
            _print_actions(clerk.decide())
            return
        if stop:
            clerk.stop()
        for submission in approve or ():
            clerk.poll()
            clerk.approve_by_hand(submission)
        for number in bulk_paid or ():
            clerk.settle_by_hand(number, paid=True)
        for number in bulk_unpaid or ():
            clerk.settle_by_hand(number, paid=False)
        while True:
            _print_actions(clerk.work())
            _print_books(clerk)
            _print_withheld(clerk)
            if not watch:
                return
            time.sleep(watch)


def check_page(folder: Path, planned: RecruitmentPlan) -> None:
    """Refuse to send people to a page that does not wait for them.

    Raises:
        StudyError: No page is open for the experiment, its code is not the plan's, or it has fewer places.
    """
    from lakatos.flows.errors import StudyError
    from lakatos.flows.operations.prolific_page import collection

    with collection(folder) as store:
        found = store.opened(planned.name) if store else None
        wanted = store.wanted(planned.name) if store else None
    if found is None or wanted is None:
        raise StudyError(
            f"{folder} has no open page for the experiment {planned.name!r}; participants are "
            "recruited only after predictions "
            "are frozen. `lakatos resume` freezes them and opens the page."
        )
    code = planned.codes["COMPLETED"]
    if found.settings.completion_code not in ("", code):
        raise StudyError(
            f"the page's own completion_code is {found.settings.completion_code!r}, and the plan's is {code!r}; give "
            "the plan the page's, or let the page have none."
        )
    if planned.settings.people > wanted:
        raise StudyError(
            f"the plan has {planned.settings.people} participants, and the page has places for {wanted}; plan for so "
            "many."
        )
    if (planned.settings.former_participants == "admit") != (found.settings.returning == "admit"):
        raise StudyError(
            f"the plan has former_participants = {planned.settings.former_participants!r} and the page "
            f"returning = {found.settings.returning!r}; participants would be refused, or be excluded without need. "
            "Plan as the page does."
        )


@contextmanager
def _books(
    run_name: str, runs: Path, *, begins: bool = False
) -> Iterator[tuple[Path, PaymentLedger]]:
    """The run's folder and its books, which nobody else writes meanwhile; a first plan begins the books."""
    from lakatos.experiments.participants.prolific.books import LEDGER_FILE
    from lakatos.experiments.participants.prolific.ledger import PaymentLedger
    from lakatos.flows.run.places import check_collects
    from lakatos.traces.stores.sqlite import WriterLock

    folder = find_run(run_name, runs)
    check_collects(folder)
    if not (begins or (folder / LEDGER_FILE).exists()):
        raise _no_plan(folder)
    lock = WriterLock(folder / LOCK_FILE)
    try:
        with PaymentLedger(folder / LEDGER_FILE) as ledger:
            yield folder, ledger
    finally:
        lock.release()


def _no_plan(folder: Path) -> FlowError:
    from lakatos.flows.errors import StudyError

    return StudyError(
        f"{folder} has no plan; make one with `lakatos prolific plan SETTINGS {folder}`."
    )


@contextmanager
def _at_work(
    run_name: str,
    runs: Path,
    experiment: str,
    *,
    bonus: Path | None = None,
    needs_token: bool = True,
    stop_when_ended: bool = False,
) -> Iterator[ProlificClerk]:
    from lakatos.experiments.participants.prolific.clerk import ProlificClerk
    from lakatos.experiments.participants.prolific.client import ProlificClient
    from lakatos.flows.operations.prolific_page import RunPage

    with _books(run_name, runs) as (folder, ledger):
        planned = ledger.experiments()
        if not planned:
            raise _no_plan(folder)
        name = experiment or planned[-1]
        most = ledger.account(name).plan
        client = ProlificClient.from_environment() if needs_token else ProlificClient("none")
        with client:
            page = RunPage(folder, most)
            amounts = _bonuses(bonus, folder, most)
            yield ProlificClerk(
                client, ledger, name, page, bonus=amounts, stop_when_ended=stop_when_ended
            )


def _bonuses(
    path: Path | None, folder: Path, planned: RecruitmentPlan
) -> Callable[[SubmissionEntry], Money | None]:
    """Return each person's bonus, from a file that names people by their pseudonym.

    Raises:
        StudyError: A line of the file cannot be used; nothing is paid then.
    """
    from lakatos.experiments.errors import SourceError
    from lakatos.experiments.participants.answers import pseudonym
    from lakatos.flows.errors import StudyError
    from lakatos.flows.operations.prolific_page import pseudonym_key

    if path is None:
        return lambda _: None
    key = pseudonym_key(folder)
    if not key:
        raise StudyError(
            f"{folder} has no key of pseudonyms, because no participant used its page; none can be looked up."
        )
    amounts: dict[str, Money] = {}
    try:
        with io.StringIO(read_named(path).decode("utf-8-sig"), newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames is None or set(reader.fieldnames) != {"person", "amount"}:
                raise StudyError(
                    f"{path}: the first line must be person,amount, not {reader.fieldnames}."
                )
            for number, line in enumerate(reader, start=2):
                if None in line or None in line.values():
                    raise StudyError(
                        f"{path}, line {number}: give a person and an amount with a point, such as 0.25."
                    )
                person, amount = line["person"].strip(), line["amount"].strip()
                if not person or person in amounts:
                    raise StudyError(
                        f"{path}, line {number}: the person is missing or was named before."
                    )
                try:
                    amounts[person] = planned.settings.money(amount)
                except SourceError as error:
                    raise StudyError(f"{path}, line {number}: {error}") from None
    except (csv.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StudyError(f"cannot read {path}: {reason}. Save it as CSV in UTF-8.") from None
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not UTF-8 text. Save it as CSV in UTF-8.") from None
    return lambda entry: amounts.get(pseudonym(key, "prolific", entry.participant))


def _print_cost(planned: RecruitmentPlan) -> None:
    settings, fee = planned.settings, planned.fee
    table = Table("what", "each", "people", "with fees", title=f"{planned.name}: what it can cost")
    table.add_row(
        "reward",
        str(planned.reward),
        str(settings.people),
        str(planned.reward_cost * settings.people),
    )
    bonuses = fee.cost(planned.most_bonus) * settings.people
    table.add_row("bonus, at most", str(planned.most_bonus), str(settings.people), str(bonuses))
    screened = planned.screen_out_cost * settings.most_screened_out
    paid = settings.money(settings.screen_out_reward)
    table.add_row(
        "screened out, at most", str(paid), str(settings.most_screened_out), str(screened)
    )
    table.add_row("[bold]total[/bold]", "", "", f"[bold]{planned.total_cost}[/bold]")
    console = Console(stderr=True)
    console.print(table)
    console.print(
        f"Fees: {fee.service_percent}% of every payment and {fee.tax_percent}% tax on that, as of {fee.as_of}; "
        "the service's own reckoning is compared before anything is published. People who run out of time and come "
        "back late are paid too, so leave room for some in the limit.",
        soft_wrap=True,
    )


def _print_books(clerk: ProlificClerk) -> None:
    account, books = clerk.account, clerk.books
    console = Console()
    study = (
        f"study {account.study}: {account.state}"
        if account.study
        else "no study on the service yet"
    )
    console.print(
        f"[bold]{escape(clerk.plan.name)}[/bold]  {study}, {account.taken} of {account.places} places taken"
    )
    console.print(
        f"  {books.completed} of {books.wanted} people completed, {books.busy} are taking part"
    )
    states = ", ".join(f"{n} {state.lower()}" for state, n in books.by_state.items())
    console.print(f"  submissions: {states or 'none'}")
    console.print(
        f"  spent {books.spent}, at most {books.at_most} by what may still come, limit {books.limit or 'none'}"
    )


def _print_withheld(clerk: ProlificClerk) -> None:
    """Say whose answers are kept apart."""
    from lakatos.flows.operations.prolific_page import RunPage

    page = clerk.page
    withheld = (
        [item for item in page.withheld if item.status != "active"]
        if isinstance(page, RunPage)
        else []
    )
    if not withheld:
        return
    people = ", ".join(f"{item.person[:12]} ({item.status})" for item in withheld)
    Console().print(
        f"[yellow]look at[/yellow] {len(withheld)} people who came with identifiers that the service does not list for "
        f"this study: {people}. Their answers are kept apart and not released to the run, unless the service lists "
        "them at a later poll.",
        soft_wrap=True,
    )


def _print_actions(actions: tuple[Action, ...]) -> None:
    from lakatos.experiments.participants.prolific.recruiter import Review

    console = Console()
    for action in actions:
        if isinstance(action, Review):
            console.print(
                f"[yellow]look at[/yellow] {escape(action.about)}: {escape(action.why)}",
                soft_wrap=True,
            )
        else:
            words = ", ".join(str(value) for value in vars(action).values())
            console.print(f"{type(action).__name__} {escape(words)}", soft_wrap=True)
