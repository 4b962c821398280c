"""A judge loses the seat in one campaign: what it justified in memory is doubted there, and wherever it is recalled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from lakatos.flows.roles.remember import shared_library
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.stages.consolidate import outdated
from lakatos.flows.start import run_study
from lakatos.memory.item import Fact, PlanUsed
from lakatos.memory.library import Library, Pitfall, always, library_from_bytes
from lakatos.memory.recall import LexicalRecall, RecallSituation
from lakatos.memory.tool import ToolDraft
from lakatos.memory.tools import TOOLS
from lakatos.traces.digest import Digest
from lakatos.traces.head import write_head
from lakatos.traces.step import Trace
from tests.flows.anchoring import anchor_file
from tests.flows.remembering import DOMAIN, write_run, write_tool
from tests.flows.small import QUICK, small_study

N_USES = 3
LIKED, MEASURED = "theories that judges liked", "theories that data favoured"


@dataclass(frozen=True)
class Displaced:
    """A folder of runs, in one of which a judge was displaced."""

    runs: Path
    seat: Digest
    draft: ToolDraft


@pytest.fixture(scope="module")
def displaced(tmp_path_factory: pytest.TempPathFactory) -> Displaced:
    """Three studies and their tool; then one whose judge lost the seat, and had called uses of the tool successes."""
    runs = tmp_path_factory.mktemp("runs")
    plans = [write_run(runs, number) for number in range(3)]
    draft = write_tool(runs, plans)
    judges = {"panel": "evolving", "anchor": str(anchor_file(runs)), "first": 1}
    stop = {"cycles": 3, "least_cycles": 3}
    run_study(small_study(**QUICK, stop=stop, judges=judges), runs / "judged", n_workers=1)
    state, trace = read_state(runs / "judged")
    trace.close()
    (seat,) = state.seats.displaced
    score = next(iter(state.theories.scores.values())).digest
    with Trace.open(runs / "judged", RECORD_TYPES) as trace:
        for number in range(N_USES):
            used = PlanUsed(
                signature=draft.signature,
                study=f"judged {number}",
                tool=draft.name,
                success=True,
                evidence=(score,),
                justified_by=(seat,),
            )
            trace.record(used, name="use plan", inputs=used.evidence, position={"number": number})
        for subject, justified in ((LIKED, (seat,)), (MEASURED, (score,))):
            fact = Fact(
                domain=DOMAIN,
                subject=subject,
                statement="attend to the best cue",
                evidence=(score,),
                justified_by=justified,
            )
            trace.record(fact, name="lesson", inputs=fact.evidence, position={"subject": subject})
    write_head(runs / "judged")  # what no head covers does not count
    return Displaced(runs, seat, draft)


def facts_of(library: Library) -> dict[str, Digest]:
    return {item.subject: digest for digest, item in library.all(Fact)}


@pytest.mark.long
def test_what_it_justified_is_flagged_and_counts_half_and_what_data_justified_does_not(
    displaced: Displaced,
) -> None:
    library = shared_library(displaced.runs)
    facts = facts_of(library)
    assert facts[LIKED] in library.doubted
    assert facts[MEASURED] not in library.doubted
    found = LexicalRecall(library, kinds=("fact",)).recall(
        RecallSituation(domain=DOMAIN, failed="the best cue")
    )
    by_lesson = {item.lesson: item for item in found.lessons}
    liked, measured = by_lesson[facts[LIKED]], by_lesson[facts[MEASURED]]
    assert "unverified" in liked.note
    assert measured.note == ""
    assert liked.relevance == pytest.approx(measured.relevance / 2)
    # A pitfall rests on the verdict that promised otherwise, and counts half with it.
    seated = [
        digest for digest, item in library.all(Pitfall) if displaced.seat in item.justified_by
    ]
    assert set(seated) <= library.doubted


@pytest.mark.long
def test_uses_that_it_called_successes_do_not_count(
    displaced: Displaced,
) -> None:
    library, name = shared_library(displaced.runs), displaced.draft.name
    whole = Library(library.entries)
    assert whole.standing(name).successes == N_USES
    assert library.standing(name).n_uses == 0
    # What validation proved needed no judge: the tool stays on offer, and is not validated anew.
    assert name in library.offers(TOOLS)
    assert outdated(library, always) == []


@pytest.mark.long
def test_the_campaign_that_lost_the_judge_doubts_it_at_once(displaced: Displaced) -> None:
    state, trace = read_state(displaced.runs / "judged")
    trace.close()

    def valid(digest: Digest) -> bool:
        return digest not in state.seats.displaced

    assert facts_of(state.memory.library)[LIKED] in state.memory.library.doubtful(valid)
    assert facts_of(state.memory.library)[MEASURED] not in state.memory.library.doubtful(valid)


@pytest.mark.long
def test_another_campaign_takes_the_doubt_along(
    displaced: Displaced,
) -> None:
    study = small_study(
        **QUICK,
        theories__seeds=["take_the_best", "tallying", "weighted_additive"],
        name="another",
        stop={"cycles": 1, "least_cycles": 1},
        memory={"arm": "tools", "shared": True},
    )
    run_study(study, displaced.runs / "another", n_workers=1)
    state, trace = read_state(displaced.runs / "another")
    with trace:
        assert state.memory.taken is not None
        taken = library_from_bytes(trace.artifacts.get(state.memory.taken.record.library))
    assert facts_of(taken)[LIKED] in taken.doubted
