"""How fast the observatory opens a long run, and how much memory that takes.

    python benchmarks/run.py view                          # 100,000 records; benchmarks/raw/view.json
    python benchmarks/run.py view --records 10000 --out .  # a smaller one, elsewhere

The run is written with the loop's own record types in the proportions of a long campaign: forty experiments with 250
people who answer one by one, sixty theories that are scored on each, and for the rest calls of language models with
their reservations. No theory is run: each predicts the true shares with an error of its own. Then, in a process of its
own, the observatory reads the run for the first time, and Chromium opens pages with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.design import design_to_json
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import (
    AnswersArrived,
    DesignChosen,
    PairPower,
    PeopleRecruited,
    TrialsCollected,
)
from lakatos.experiments.task import Design, Trials
from lakatos.flows.run.records import RECORD_TYPES, CycleClosed, LeaderboardLine
from lakatos.flows.run.run import started
from lakatos.flows.run.study import parse_study
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.language_models.client import TokenSampling
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.engine.record import (
    Diagnosis,
    DiagnosisClaim,
    TheoryAdmitted,
    TheoryChecked,
    TheoryScored,
    UnitLogPredictives,
)
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.journal import INTENT, EventEntry, step_key
from lakatos.traces.record import Record, body_of, kind_of
from lakatos.traces.step import Trace

N_CYCLES, N_PEOPLE, N_TRIALS, N_THEORIES = 40, 250, 24, 60
BATCH = 500
"""Events in one commit."""
SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}
PAGES = ("", "theories", "leaderboard", "experiments", "experiment/2.1", "diagnoses", "judges", "memory", "trace",
         "trace?q=simplest", "cost", "part/cost", "part/limits")  # fmt: skip


class Writer:
    """Writes records of a campaign in large commits."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.waiting, self.n = trace, [], 0  # type: ignore[var-annotated]

    def record(
        self,
        record: Record,
        name: str,
        *inputs: Digest,
        begun: dict[str, Any] | None = None,
        **position: int | str,
    ) -> Digest:
        """A record, after the beginning of its step and a note of what it cost where ``begun`` says so."""
        key, body = step_key(name, inputs, position), body_of(record)
        bodies = (
            []
            if begun is None
            else [
                {"effect": "repeatable"},
                *([{"effect": "repeatable", "note": begun}] * bool(begun)),
            ]
        )
        self.waiting += [EventEntry(INTENT, item, key, name, position, inputs) for item in bodies]
        kind = kind_of(type(record))
        self.waiting.append(EventEntry(kind, body, key, name, position, inputs))
        self.n += 1 + len(bodies)
        if len(self.waiting) >= BATCH:
            self.flush()
        return digest_of({"body": body, "inputs": list(inputs), "key": key, "kind": kind})

    def flush(self) -> None:
        """Write what waits."""
        if self.waiting:
            self.trace.journal.append_all(self.waiting)
        self.waiting = []


def write_run(folder: Path, n_records: int) -> int:
    """A campaign of so many events, written without running anything; returns how many there are."""
    rng = np.random.default_rng(1)
    share = min(1.0, n_records / 100_000)
    n_cycles, n_theories = max(2, round(N_CYCLES * share)), max(4, round(N_THEORIES * share))
    config = parse_study(
        {
            "name": "long", "question": "Which of many theories predicts what people choose?", "seed": 1,
            "domain": "multiattribute", "space": SPACE, "theories": {"seeds": ["take_the_best", "tallying"]},
            "participants": {"source": "web"}, "stop": {"cycles": n_cycles},
        },
        "long",
    )  # fmt: skip
    meta = {"study": config.model_dump(mode="json")}
    with Trace.create(folder, seed=1, types=RECORD_TYPES, meta=meta) as trace:
        out = Writer(trace)
        out.record(started(config), "start")
        family, domain = FAMILIES["multiattribute"], DOMAINS["multiattribute"]
        sources = [family.program(name).source for name in config.theories.seeds]
        sources += [
            sources[place % 2] + f"\n# variant {place}\n" for place in range(n_theories - 2)
        ]
        theories = [theory(out, source, place, n_cycles) for place, source in enumerate(sources)]
        error = np.linspace(0.3, 0.03, n_theories)
        calls = language_model_calls(out)
        n_calls = max(0, n_records - n_cycles * (N_PEOPLE + 2 * n_theories + 20)) // 3
        for cycle in range(1, n_cycles + 1):
            stimuli = domain.candidates(SPACE, rng, N_TRIALS)
            truth = rng.uniform(0.1, 0.9, N_TRIALS)
            predicted = np.clip(
                truth + rng.normal(0, 1, (n_theories, N_TRIALS)) * error[:, None], 0.02, 0.98
            )
            trials = experiment(out, config, cycle, theories, stimuli, truth, predicted, rng)
            for place, name in enumerate(theories):
                scored(out, name, f"{cycle}.1", trials, predicted[place])
            closed(out, cycle, theories, error)
            for _ in range(n_calls // n_cycles):
                next(calls)
        while out.n < n_records:
            next(calls)
        out.flush()
        return trace.journal.head[0]


def theory(out: Writer, source: str, place: int, n_cycles: int) -> Digest:
    digest = out.trace.artifacts.put(source.encode())
    cycle = 0 if place < 2 else 1 + place * (n_cycles - 1) // N_THEORIES
    checked = TheoryChecked(
        theory=digest, passed=True, name=f"variant {place}" if place > 1 else ("Take the best", "Tallying")[place],
        claim="people weigh what they see", author="grammar" if place > 1 else "published", parents=(),
        change=f"change {place}" if place > 1 else "", cycle=cycle, n_parameters=2, checks=("runs",), reason="",
    )  # fmt: skip
    out.record(checked, "check", digest, begun={}, cycle=cycle)
    out.record(
        TheoryAdmitted(theory=digest, cycle=cycle, reason="it may be right"),
        "admit",
        digest,
        cycle=cycle,
    )
    return digest


def experiment(
    out: Writer,
    config: Any,
    cycle: int,
    theories: list[Digest],
    stimuli: Any,
    truth: Any,
    predicted: Any,
    rng: Any,
) -> Digest:
    """Design, preregistration, people and their answers; returns the artifact of the trials."""
    name, store = f"{cycle}.1", out.trace.artifacts
    design = Design(name, stimuli, 1, N_PEOPLE, (), tuple([0.1] * N_TRIALS), "")
    rivals = tuple(theories[:4])
    powers = tuple(
        PairPower(first=rivals[0], second=other, power_first=0.9, power_second=0.8, separable=True)
        for other in rivals[1:]
    )
    held = store.put_json(design_to_json(design))
    chosen = out.record(
        DesignChosen(
            cycle=cycle, number=1, experiment=name, design=held, rivals=rivals, n_candidates=500, n_trials=N_TRIALS,
            repetitions=1, n_participants=N_PEOPLE, n_random=0, archive="", information=tuple([0.1] * N_TRIALS),
            powers=powers, accepted=True, reason="accepted",
        ),
        "design", *rivals, begun={}, cycle=cycle,
    )  # fmt: skip
    arrays = {f"{digest}:proportions": np.stack([p, p - 0.05, p + 0.05]).clip(0, 1)
              for digest, p in zip(rivals, predicted, strict=False)}  # fmt: skip
    plan = out.record(
        Preregistration(
            experiment=name, design=held, rivals=dict.fromkeys(rivals, "a rival"), predictions=store.put_arrays(arrays),
            n_draws=256, n_participants=N_PEOPLE, powers=powers, analysis="log score", stopping_rule="fixed sample",
        ),
        "preregister", chosen, begun={}, cycle=cycle,
    )  # fmt: skip
    asked = out.record(PeopleRecruited(experiment=name, source="web", n_participants=N_PEOPLE), "recruit", plan,
                       begun={}, cycle=cycle)  # fmt: skip
    answers = store.put_json({"answers": [int(value) for value in rng.integers(0, 2, N_TRIALS)]})
    for person in range(N_PEOPLE):
        out.record(
            AnswersArrived(
                experiment=name, person=digest_of([cycle, person])[:32], status="completed", answers=answers,
                n_answers=N_TRIALS, consent=digest_of("consent"), language="en", source="web",
                arrived_utc="2026-01-01T00:00:00+00:00",
            ),
            "answers", asked, experiment=name, person=person,
        )  # fmt: skip
    person, trial = (axis.ravel() for axis in np.indices((N_PEOPLE, N_TRIALS)))
    response = (rng.random(len(trial)) < truth[trial]).astype(np.int64)
    table = Trials(name, stimuli, person, trial, response, np.ones_like(trial), n_people=N_PEOPLE)
    trials = store.put_json(table.to_json())
    out.record(
        TrialsCollected(
            experiment=name, preregistration=plan, trials=trials, n_participants=N_PEOPLE,
            n_responses=N_PEOPLE * N_TRIALS, n_people=N_PEOPLE, pooled=False, ceiling=-0.55, ceiling_error=0.01,
        ),
        "collect", plan, begun={}, cycle=cycle,
    )  # fmt: skip
    return trials


def scored(out: Writer, name: Digest, experiment: str, trials: Digest, predicted: Any) -> None:
    log = float(np.log(predicted).mean()) * N_TRIALS
    units = UnitLogPredictives.of(
        UnitScores(np.linspace(0.9, 1.1, N_PEOPLE) * log, np.full(N_PEOPLE, float(N_TRIALS)))
    )
    out.record(
        TheoryScored(
            theory=name, experiment=experiment, trials=trials, engine="score-1", n_draws=256, left_out=units,
            frozen=units, proportions=tuple(predicted.tolist()), error=0.01, correlation=0.9,
        ),
        "score", name, trials, begun={},
    )  # fmt: skip


def closed(out: Writer, cycle: int, theories: list[Digest], error: Any) -> None:
    """Diagnosis, verdicts and the end of a cycle."""
    claim = DiagnosisClaim(
        text="people look at one cue",
        feature="conflict",
        effect=0.1,
        z=3.0,
        q=0.01,
        cites=(theories[0],),
    )
    out.record(
        Diagnosis(
            cycle=cycle, loser=theories[0], leader=theories[-1], difference=0.1, standard_error=0.01, tie=False,
            claims=(claim,) * 6, location="conflict", hypothesis="one cue", proposal="weigh them", remedies=(),
            test="more",
        ),
        "arbitrate", theories[0], begun={}, cycle=cycle,
    )  # fmt: skip
    verdict = Verdict(epoch=digest_of("panel"), candidate=theories[-1], incumbent=theories[0], cycle=cycle,
                      probability=0.7, opinions={"rule": 0.7})  # fmt: skip
    given = out.record(verdict, "judge", cycle=cycle)
    settled = VerdictResolved(
        verdict=given, experiment=f"{cycle}.1", favoured=cycle % 3 > 0, log_score=-0.4
    )
    out.record(settled, "settle", given, cycle=cycle)
    lines = tuple(
        LeaderboardLine(
            theory=name, score=-0.5 - 0.3 * float(error[place]), standard_error=0.01, prequential=-0.6,
            error=0.01, correlation=0.9, behind=0.3 * float(error[place] - error[-1]), behind_error=0.01, tied=False,
        )
        for place, name in sorted(enumerate(theories), reverse=True)
    )  # fmt: skip
    out.record(CycleClosed(cycle=cycle, leader=theories[-1], leaderboard=lines, improved=False, stop=""), "close",
               *theories[:2], cycle=cycle)  # fmt: skip


def language_model_calls(out: Writer) -> Iterator[None]:
    """Calls of a language model with what was reserved and settled, and prompts and answers of their own."""
    number = 0
    while True:
        number += 1
        words = f"Case {number % 2000}: which theory is the simplest that the answers allow? " * 20
        request = out.trace.artifacts.put_json({"messages": [{"role": "user", "content": words}]})
        completion = out.trace.artifacts.put_json(
            {"content": f"The second one, for reason {number % 2000}.", "model_name": "m"}
        )
        amount = {"requests": 1, "tokens": 900, "millionths": 120, "participants": 0}
        out.record(
            LanguageModelCalled(
                role="advocate" if number % 3 else "arbiter", model="local", model_version=digest_of("model"),
                model_name="m", server="s", request=request, sampling=TokenSampling(), seed=number,
                completion=completion, finish_reason="stop", outcome="answered",
                n_prompt_tokens=800, n_completion_tokens=100,
            ),
            "call", request, begun={"spent": amount}, number=number,
        )  # fmt: skip
        yield


# --- measuring ------------------------------------------------------------------------------------------------------


def memory_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def read_first(folder: Path, out: Any) -> None:
    """In a process of its own: seconds from nothing known to the story, and memory before and after."""
    from fastapi.testclient import TestClient

    from lakatos.flows.view.app import create_app

    warm = Path(tempfile.mkdtemp())
    write_run(warm / "warm", 300)
    with TestClient(
        create_app(warm), base_url="http://127.0.0.1"
    ) as client:  # templates and imports are not measured
        client.get("/run/warm/")
    shutil.rmtree(warm)
    before = memory_mib()
    with TestClient(create_app(folder), base_url="http://127.0.0.1") as client:
        base, times, processor = f"/run/{folder.name}/", {}, {}
        for page in PAGES:
            began, used = time.perf_counter(), time.process_time()
            answer = client.get(base + page)
            name = f"first {page or 'story'}"
            times[name], processor[name] = time.perf_counter() - began, time.process_time() - used
            assert answer.status_code == 200, (page, answer.text[-300:])
        again = []
        for _ in range(5):
            began = time.perf_counter()
            client.get(base)
            again.append(time.perf_counter() - began)
    out.put(
        {
            "server_s": times | {"story again": median(again)},
            "server_processor_s": processor,
            "memory_before_mib": before,
            "memory_after_mib": memory_mib(),
        }
    )


def serve(folder: Path, port: Any) -> None:
    import socket

    import uvicorn

    from lakatos.flows.view.app import create_app

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port.put(listener.getsockname()[1])
        uvicorn.Server(uvicorn.Config(create_app(folder), log_level="error", access_log=False)).run(
            sockets=[listener]
        )


def rendered(folder: Path, n_times: int) -> dict[str, Any]:
    """Seconds to the first contentful paint in Chromium: the server knows nothing of the run the first time."""
    from playwright.sync_api import sync_playwright

    browser_path = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    context = multiprocessing.get_context("spawn")
    cold: list[float] = []
    warm: dict[str, list[float]] = {page or "story": [] for page in PAGES if "part/" not in page}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
        )
        for _ in range(n_times):
            port = context.Queue()
            server = context.Process(target=serve, args=(folder, port), daemon=True)
            server.start()
            url = f"http://127.0.0.1:{port.get()}"
            page = browser.new_context().new_page()
            page.goto(f"{url}/static/mark.svg")  # the process is up; it has not looked at the run
            cold.append(paint(page, f"{url}/run/{folder.name}/"))
            for name in (name for name in PAGES if "part/" not in name):
                warm[name or "story"].append(paint(page, f"{url}/run/{folder.name}/{name}"))
            server.kill()
            server.join()
        browser.close()
    return {
        "first_paint_cold_s": cold,
        "first_paint_s": {name: median(found) for name, found in warm.items()},
    }


def paint(page: Any, url: str) -> float:
    page.goto(url, wait_until="commit", timeout=120_000)
    return float(page.evaluate(
        """() => new Promise(done => new PerformanceObserver(list => {
             for (const entry of list.getEntries()) if (entry.name === 'first-contentful-paint') done(entry.startTime);
           }).observe({type: 'paint', buffered: true}))"""
    )) / 1000  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument(
        "--times", type=int, default=3, help="starts of the server that are measured"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "long"
        began = time.perf_counter()
        n_events = write_run(folder, arguments.records)
        result: dict[str, Any] = {
            "provenance": provenance(),
            "n_events": n_events,
            "journal_mib": (folder / "journal.sqlite").stat().st_size / 2**20,
            "seconds_to_write": time.perf_counter() - began,
            "load_average_before": os.getloadavg()[0],
        }
        context = multiprocessing.get_context("spawn")
        out = context.Queue()
        process = context.Process(target=read_first, args=(folder, out))
        process.start()
        result |= out.get(timeout=600)
        process.join()
        result |= rendered(folder, arguments.times)
    text = json.dumps(result, indent=1)
    (arguments.out / "view.json").write_text(text + "\n")
    print(text)
