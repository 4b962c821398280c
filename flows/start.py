"""Begin and resume runs: what the commands `demo`, `run` and `resume` call, for notebooks and scripts too."""

from __future__ import annotations

from pathlib import Path

from lakatos.experiments.errors import DesignError
from lakatos.flows.campaign import run_campaign
from lakatos.flows.errors import StudyError, UnusableError
from lakatos.flows.run.analyses import note_analysis
from lakatos.flows.run.begun import forget_begun
from lakatos.flows.run.engine import cool_down, execute, warm_up
from lakatos.flows.run.next_pass import look, mark_pass
from lakatos.flows.run.notify import notify
from lakatos.flows.run.parts import EngineName
from lakatos.flows.run.progress import CampaignProgress
from lakatos.flows.run.run import Run, check_code, create_run, open_run, read_state
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.flows.run.summary import keep_summary, summary_of
from lakatos.flows.stages.asked import AnswersAwaited, waiting_in
from lakatos.flows.stages.collect import n_counting, take_answers
from lakatos.flows.stages.enough import close_collection
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.traces.place import holds_journal, is_elsewhere
from lakatos.traces.step import Recorded, Trace


def run_study(
    study: CampaignConfig | Path,
    folder: Path,
    *,
    data: Path | None = None,
    engine: EngineName = "none",
    progress: CampaignProgress | None = None,
    n_workers: int = 2,
) -> CampaignConcluded | AnswersAwaited:
    """Run a study in a new folder up to its verdict, or until people have to be waited for.

    Args:
        study: A study, or the path of a study file.
        folder: Folder of the run; must not hold one yet.
        data: Folder of the published data sets, for archival studies.
        engine: ``none`` for plain asyncio, ``prefect`` to run on Prefect.
        progress: Display of what happens.
        n_workers: Theories that run at the same time; does not change results.

    Raises:
        StudyError: The study was refused, like the errors of designs and theories; where that happens before the first
            design, nothing of the run is left.

    Returns:
        The verdict, or what is waited for; `lakatos.flows.run.run.read_state` gives everything else.

    Example:
        >>> verdict = run_study(Path("studies/allais.toml"), Path("runs/my-first"))  # doctest: +SKIP
        >>> print(verdict.text)  # doctest: +SKIP
    """
    config = study if isinstance(study, CampaignConfig) else load_study(study)
    shown = progress or CampaignProgress()
    warm_up(engine)
    folder = Path(folder)
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        with (
            shown,
            create_run(config, folder, data=data, progress=shown, n_workers=n_workers) as run,
        ):
            try:
                found = execute(
                    engine, run_campaign, run, on_wait=shown.waiting, title=run.folder.name
                )
            except (StudyError, DesignError, TheoryError):
                if new and not run.state.experiments.designs and not is_elsewhere(folder):
                    run.close()
                    forget_begun(config, folder, new)
                raise
            finally:
                if holds_journal(folder):
                    note_analysis(run)  # also of a run that is stopped before its verdict
            return _result(run.folder, run.state, run.trace, found)
    finally:
        cool_down()


def resume_run(
    folder: Path,
    *,
    data: Path | None = None,
    engine: EngineName = "none",
    progress: CampaignProgress | None = None,
    n_workers: int = 2,
    enough: bool = False,
) -> CampaignConcluded | AnswersAwaited:
    """Carry a run on from where its trace ends; a concluded run returns its verdict, unless answers have come since.

    Args:
        folder: Folder of the run.
        data: Folder of the published data sets, for archival studies.
        engine: As for `run_study`.
        progress: Display of what happens.
        n_workers: Theories that run at the same time; does not change results.
        enough: Go on with the people who have answered, although fewer than planned have.
    """
    state, trace = read_state(folder)
    joined = (
        state.campaign.config is not None
        and state.campaign.config.source.one_by_one
        and bool(trace.inbox.pending())
    )
    trace.close()
    # Without the mark, the pass that concluded did not come to its end: lessons or the signature may be missing.
    if state.campaign.concluded is not None and not joined and look(folder).ended == "concluded":
        return state.campaign.concluded.record
    shown = progress or CampaignProgress()
    with shown, open_run(folder, data=data, progress=shown, n_workers=n_workers) as run:
        carry = _close_and_carry_on if enough else run_campaign
        try:
            found = execute(engine, carry, run, on_wait=shown.waiting, title=run.folder.name)
        finally:
            note_analysis(run)
        return _result(run.folder, run.state, run.trace, found)


async def _close_and_carry_on(run: Run) -> Recorded[CampaignConcluded] | AnswersAwaited:
    """`run_campaign` with the participants who have answered, once nothing refuses to carry the run on."""
    check_code(run)
    if too_few := _close(run):
        run.progress.note(too_few)
    return await run_campaign(run)


def _close(run: Run) -> str:
    """End the collection that the run waits in, unless the responses that arrived last complete it.

    Returns:
        Reason why collection goes on, if the responses of too few participants count; empty otherwise.

    Raises:
        UnusableError: It waits for nobody.
    """
    check_waits(run.folder)
    take_answers(run)
    state, waiting = _waits(run.folder)
    if waiting is None:
        return ""
    if (counting := n_counting(run.config, run.trace, state, waiting.experiment)) < 2:
        return (
            f"the responses of {counting} participants in experiment {waiting.experiment} count, and theories cannot "
            f"be compared on fewer than 2; `lakatos data list {run.folder}` shows the others. Collection goes on; "
            "nothing was ended."
        )
    close_collection(run.trace, waiting, "the researcher went on with fewer people than planned")
    return ""


def check_waits(folder: Path) -> None:
    """Refuse to end a collection where none goes on: raise `UnusableError`."""
    if _waits(folder)[1] is None:
        raise UnusableError(
            f"the run {folder} does not wait for participants; `lakatos resume {folder}` "
            "without --enough continues it."
        )


def _waits(folder: Path) -> tuple[RunState, AnswersAwaited | None]:
    """All that is recorded of a run, and what it waits for by that."""
    state, trace = read_state(folder)
    trace.close()
    return state, waiting_in(state)


def _result(
    folder: Path, state: RunState, trace: Trace, found: Recorded[CampaignConcluded] | AnswersAwaited
) -> CampaignConcluded | AnswersAwaited:
    """Return the result of a pass, and mark the run so that a look knows that nothing is left to do.

    There is no mark where a study on Prolific has to be stopped first: nothing arrives when that is done.
    """
    if isinstance(found, AnswersAwaited):
        if not found.to_stop:
            mark_pass(folder, "waiting", found.text)
            keep_summary(folder, summary_of(state, trace.journal.head, found.text))
        return found
    mark_pass(folder, "concluded", found.record.text)
    keep_summary(folder, summary_of(state, trace.journal.head, ""))
    notify(f"Lakatos: the run {folder.resolve().name} has concluded", found.record.text)
    return found.record
