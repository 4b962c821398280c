"""A timed task in a real browser: a study with power, frozen predictions and invited people, to its verdict; clocks.

Chromium is driven as a person would use it: links of invitations, consent, instructions, then real key presses. Each
person follows one theory, conflict diffusion, with numbers of their own; for each trial the theory draws a key and a
time, and the driver presses that key so long after the target was painted. When that was, a watcher of the driver's own
says, which shares nothing with the page's script but the browser's clock. So each answer has three times: when the
driver sent the press, what the page's clock measured, and the server's interval from the report that the target had
appeared to the answer's arrival. One person presses one key always, one presses before the target can be seen, and one
sends answers that are made up, without a browser; the preregistered rules are to find these three, and new people take
their places.

    python benchmarks/run.py timed_page --runs runs/timed-page            # resumes; benchmarks/raw/timed_page.json

Intervals are 95% intervals by resampling people.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.clocks import clock_agreement
from benchmarks.provenance import ROOT, provenance
from lakatos.domains.attention.task import EDGES, AttentionDomain, conflict_trials
from lakatos.domains.attention.theories import FAMILY
from lakatos.experiments.participants.timed_answer import draw_presses
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.texts import texts_for_domain
from lakatos.flows.commands.collect import invite
from lakatos.flows.operations.people_export import export
from lakatos.flows.run.run import read_state
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.behave import TheoryCrowd
from lakatos.theories.engine.sandbox.client import Sandbox

RESULT = ROOT / "benchmarks" / "raw" / "timed_page.json"
STUDY, NAME = ROOT / "studies" / "attention-page.toml", "attention-page-1"
TRUTH = "fading_pull"
PEOPLE: Mapping[str, tuple[float, float]] = {
    "rate": (2.5, 0.35), "pull": (0.25, 0.06), "fade": (0.10, 0.02), "bound": (0.85, 0.1), "delay": (0.28, 0.03),
    "delay_spread": (0.02, 0.004), "lapse": (0.02, 0.01),
}  # fmt: skip
"""Mean and standard deviation of the people's parameters."""
CONDITIONS = conflict_trials(
    {"congruence": [1, 1, -1, -1], "side": [-1, 1, -1, 1], "level": [-1] * 4}
)
DOMAIN = AttentionDomain()
KEYS = ("f", "j")
WATCH = """
new MutationObserver(() => {
  const target = document.querySelector('.target');
  if (!target || target.watched) return;
  target.watched = true;
  requestAnimationFrame((now) => { window.painted = performance.timeOrigin + now; });
}).observe(document, { childList: true, subtree: true });
addEventListener('keydown', (event) => { window.pressed = performance.timeOrigin + event.timeStamp; }, true);
"""
"""The driver's own watcher: it is told of the target before the frame in which it is painted ends, so that the next
frame's beginning is when it was painted."""
BOOTSTRAPS = 2000


@dataclass
class DrivenPress:
    """One trial as the driver knows it, in milliseconds since the target was painted by the driver's watcher."""

    person: int
    meant_ms: float
    """That the theory drew."""
    sent_ms: float
    """When the driver sent the press, by its own process's clock."""
    pressed_ms: float
    """When the browser says that the key went down, to the driver's watcher."""


def lakatos(*words: str) -> str:
    """What a command of the laboratory prints, in a process of its own."""
    environment = {
        key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
    }
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lakatos")), *words],
        capture_output=True, text=True, env=environment | {"COLUMNS": "200"}, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 3):
        raise SystemExit(f"lakatos {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def collected(runs: Path) -> Iterator[str]:
    """The page's server, a process of its own; gives its address."""
    program = str(Path(sys.executable).with_name("lakatos"))
    command = [program, "collect", NAME, "--runs", str(runs), "--port", "0"]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"}
    )
    assert server.stdout is not None
    address = ""
    for line in server.stdout:
        if found := re.search(r"(http://[^/\s]+)/study/", line):
            address = found[1]
            break
    try:
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def presses_of(
    n_people: int, n_trials: int, seed: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Keys and times that people of the truth would give, ``(n_people, 4 conditions, n_trials)`` each."""
    rng = np.random.default_rng([seed, 1])
    with Sandbox() as sandbox:
        theory = load_theory(FAMILY.program(TRUTH), DOMAIN, sandbox)
        drawn = {
            name: np.clip(rng.normal(mean, sd, n_people), 0.001, None)
            for name, (mean, sd) in PEOPLE.items()
        }
        order = np.tile(np.repeat(np.arange(4), n_trials), (n_people, 1))
        with TheoryCrowd(theory, DOMAIN, sandbox, CONDITIONS) as crowd:
            outcomes = crowd.behave(drawn, order, rng).response
    keys, times = draw_presses(DOMAIN, CONDITIONS, order, outcomes, rng)
    shape = (n_people, 4, n_trials)
    return keys.reshape(shape), times.reshape(shape)


PAINTED = """() => window.painted && document.querySelector('.target') && [
  window.painted, [...document.querySelectorAll('.target text')].map(item => item.textContent).join('')]"""


def condition_of(letters: str) -> int:
    """Which of the four conditions a page shows, by the letters of its drawing."""
    small, n = letters[0], len(letters)
    large = {17: "H", 19: "S"}[n]
    return {("S", "S"): 0, ("H", "H"): 1, ("S", "H"): 2, ("H", "S"): 3}[small, large]


def take_part(
    browser: Any, link: str, number: int, keys: Any, times: Any, how: str, shots: Path | None
) -> list[DrivenPress]:
    """One person in a context of their own, from the invitation to the code."""
    context = browser.new_context(viewport={"width": 1100, "height": 800}, locale="en-GB")
    context.add_init_script(WATCH)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(link)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Continue to some questions").click()
    words = texts_for_domain(DOMAIN)["en"]["domains"]["attention"]["figures"]["small_letters"]
    for item in words["questions"]:
        page.get_by_role("group", name=item["text"]).get_by_role("radio").nth(item["right"]).check()
    page.get_by_role("button", name="Check my answers").click()
    done, used, rng = [], [0] * 4, np.random.default_rng([number, 7])
    while True:
        page.wait_for_selector(
            ".target, .code, main > h1 ~ .row button, #main h1 + p + .row button"
        )
        if page.locator(".code").count():
            break
        if not page.locator(".target").count():
            page.wait_for_timeout(300)  # a click at once might belong to the step before
            page.locator("main .row button").last.click()
            continue
        if shots is not None and not done:
            page.screenshot(path=str(shots / "desktop.png"))
        painted, letters = page.wait_for_function(PAINTED, polling=4).json_value()
        kind = condition_of(letters)
        key, meant = int(keys[kind, used[kind]]), float(times[kind, used[kind]])
        used[kind] = (used[kind] + 1) % keys.shape[1]
        if how == "one key":
            key = 0
        if how == "too early":
            meant = float(rng.uniform(60, 180))
        time.sleep(max(0.0, (painted + meant) / 1000 - time.time()))
        sent = 1000 * time.time() - painted
        page.keyboard.press(KEYS[key])
        pressed = page.evaluate("[window.pressed, delete window.painted][0]")
        done.append(DrivenPress(number, meant, round(sent, 1), round(pressed - painted, 1)))
        page.wait_for_selector(".target", state="detached")
    context.close()
    return done


def make_up(link: str, address: str) -> None:
    """A person who is a program: answers at once, with times that are made up."""
    with httpx.Client(base_url=address, trust_env=False, timeout=60) as client:
        invitation = link.split("=", 1)[1]
        text = client.get(f"/study/?invitation={invitation}").text
        visitor = re.search(r'data-visitor="([0-9a-f]*)"', text)
        client.headers["Lakatos-Visitor"] = visitor[1] if visitor else ""
        digest = client.get("/study/api/texts").json()["consent"]["digest"]
        body = {"consent": digest, "language": "en", "invitation": invitation}
        client.post("/study/api/consent", json=body).raise_for_status()
        words = texts_for_domain(DOMAIN)["en"]["domains"]["attention"]["figures"]["small_letters"]
        right = [item["right"] for item in words["questions"]]
        state = client.post(
            "/study/api/comprehension", json={"attempt": 0, "answers": right}
        ).json()
        rng = np.random.default_rng(9)
        while state["phase"] == "task":
            answer = {
                "position": state["position"],
                "response": 0 if state["steps"][0]["kind"] == "break" else int(rng.integers(2)),
                "response_time_ms": round(float(rng.normal(600, 80)), 1),
            }
            time.sleep(0.12)
            client.post("/study/api/onset", json={"position": state["position"]})
            reply = client.post("/study/api/answers", json=answer)
            if reply.status_code == 200:
                state = reply.json()["state"]


def agreement(
    edges: Sequence[float], pairs: Sequence[tuple[int, float, float]], seed: int
) -> dict[str, Any]:
    """Bias, spread and shared bins of two clocks, with intervals by resampling people; the second minus the first."""
    people = sorted({person for person, *_ in pairs})
    own = {person: [(a, b) for who, a, b in pairs if who == person] for person in people}

    def measured(chosen: Sequence[int]) -> dict[str, float]:
        rows = [row for person in chosen for row in own[person]]
        found = clock_agreement(edges, [a for a, _ in rows], [b for _, b in rows])
        assert found is not None
        low, high = found.limits_ms
        return {**asdict(found), "limits_low_ms": low, "limits_high_ms": high}

    rng = np.random.default_rng(seed)
    again = [measured(rng.choice(people, len(people)).tolist()) for _ in range(BOOTSTRAPS)]
    return {
        name: {
            "value": round(value, 4),
            "interval": np.percentile([item[name] for item in again], [2.5, 97.5])
            .round(4)
            .tolist(),
        }
        if name != "n"
        else value
        for name, value in measured(people).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--runs", type=Path, required=True, help="folder of the run; it is resumed if it is there"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--at-most",
        type=int,
        default=99,
        help="people who take part in this call",
    )
    parser.add_argument("--people", type=int, default=PLACES, help="places of the study")
    parser.add_argument("--shots", type=Path, help="folder for a picture of the page")
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    folder = given.runs / NAME
    if not folder.exists():
        lakatos(
            "run",
            str(study_of(given.runs, given.people)),
            "--runs",
            str(given.runs),
            "--engine",
            "none",
        )
    if people(folder, given):
        finish(folder, given)


PLACES = 10
"""Of the study as it is kept, before anybody is excluded."""
FIRST = ("one key", "too early", "made up")
"""How the first people take part; all later ones do as their theory says, until all places are taken by people who
are not excluded."""


def study_of(folder: Path, n_people: int) -> Path:
    """The study file for so many people; another number than its own makes a copy of it."""
    if n_people == PLACES:
        return STUDY
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / STUDY.name
    copy.write_text(
        STUDY.read_text().replace(f"participants = {PLACES}", f"participants = {n_people}")
    )
    return copy


def has_place(folder: Path) -> bool:
    """Whether the page lets one more person in."""
    store = SessionStore(folder)
    try:
        return store.current(free=True) is not None
    finally:
        store.shut()


def people(folder: Path, given: argparse.Namespace) -> bool:
    """Let the next people take part, and note what the driver knows of them; whether no place is left."""
    note = folder / "driven.json"
    known = json.loads(note.read_text()) if note.exists() else []
    from playwright.sync_api import sync_playwright

    keys, times = presses_of(given.people + len(FIRST), 40, given.seed)
    if given.shots:
        given.shots.mkdir(parents=True, exist_ok=True)
    with collected(given.runs) as address, sync_playwright() as playwright:
        names = ("chromium", "chromium-browser", "google-chrome")
        browser = playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, names))),
            args=["--no-sandbox", "--disable-gpu", "--disable-quic"],
        )
        for number in range(len(known), len(known) + given.at_most):
            if not has_place(folder):  # a pass looks at the rules, and may ask for more people
                lakatos("resume", NAME, "--runs", str(given.runs), "--engine", "none")
            if not has_place(folder):
                return True
            (link,) = invite(folder, 1, public_url=address)
            how, begun = FIRST[number] if number < len(FIRST) else "careful", time.time()
            if how == "made up":
                make_up(link, address)
                done: list[DrivenPress] = []
            else:
                own = number % len(keys)
                done = take_part(browser, link, number, keys[own], times[own], how, given.shots)
            known.append(
                {"how": how, "seconds": round(time.time() - begun, 1), "load": os.getloadavg()[0],
                 "presses": [asdict(item) for item in done]}
            )  # fmt: skip
            note.write_text(json.dumps(known))
            print(number, how, len(done), known[-1]["seconds"], flush=True)
        browser.close()
    return False


def finish(folder: Path, given: argparse.Namespace) -> None:
    """Resume to the verdict, export, and compare the clocks."""
    lakatos("resume", NAME, "--runs", str(given.runs), "--engine", "none")
    audited = lakatos("audit", NAME, "--runs", str(given.runs))
    out = folder / "exported"
    export(folder, out)
    result = {**provenance(), "seed": given.seed, **read_result(folder, out, given.seed)}
    result["audit"] = audited.strip().splitlines()[:2]
    given.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    print(json.dumps(result, indent=1, ensure_ascii=False))


def read_result(folder: Path, out: Path, seed: int) -> dict[str, Any]:
    """What came out: design, power, people, exclusions, verdict, and how the clocks agree."""
    import csv

    driven = json.loads((folder / "driven.json").read_text())
    with (out / "answers.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (out / "people.csv").open(newline="") as file:
        persons = list(csv.DictReader(file))
    own: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        own.setdefault(row["person"], []).append(row)
    server, sent, watched, late = [], [], [], []
    for number, (person, part) in enumerate(zip(persons, driven, strict=True)):
        if not part["presses"]:  # had no browser
            continue
        answered = [row for row in own[person["person"]] if row["key"]]
        presses = part["presses"][-len(answered) :]  # those before them were for practice
        for press, row in zip(presses, answered, strict=True):
            client = float(row["response_time_ms"])
            sent.append((number, press["sent_ms"], client))
            late.append(press["sent_ms"] - press["meant_ms"])
            watched.append((number, press["pressed_ms"], client))
            if row["interval_ms"]:
                server.append((number, client, float(row["interval_ms"])))
    state, trace = read_state(folder)
    trace.close()
    plans = [item.record for item in state.experiments.preregistrations.values()]
    verdict = state.campaign.concluded
    return {
        "study": NAME,
        "truth": TRUTH,
        "people": [
            {"how": part["how"], "status": person["status"], "excluded": person["excluded"],
             "n_answers": int(person["n_answers"]),
             **{name: int(person[name]) for name in ("n_no_answer", "n_too_early", "n_too_late", "n_impossible")},
             "seconds": part["seconds"], "load": round(part["load"], 1)}
            for person, part in zip(persons, driven, strict=True)
        ],
        "plans": [
            {"experiment": plan.experiment, "n_participants": plan.n_participants, "rivals": list(plan.rivals.values()),
             "powers": [
                 {"first": plan.rivals[line.first], "second": plan.rivals[line.second],
                  "power_first": line.power_first, "power_second": line.power_second}
                 for line in plan.powers
             ]}
            for plan in plans
        ],
        "verdict": None if verdict is None else verdict.record.text,
        "leader": None if verdict is None else state.theories.checked[verdict.record.leader].record.name,
        "driver_late_ms": {
            "median": round(float(np.median(late)), 1),
            "share_beyond_20": round(float(np.mean(np.array(late) > 20)), 4),
        },
        "share_of_intervals_known": round(len(server) / max(len(sent), 1), 4),
        "server_minus_client": agreement(EDGES, server, seed),
        "client_minus_driver": agreement(EDGES, sent, seed),
        "client_minus_watcher": agreement(EDGES, watched, seed),
    }  # fmt: skip
