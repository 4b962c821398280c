"""A task that is declared in TOML alone, from its declaration through the live page to a verdict.

    python benchmarks/own_task_live.py --folder FOLDER     # goes on where it stopped

A dictator game (`studies/tasks/fairness.toml`) is checked, run, served, answered in Chromium by people in two
experiments, and brought to a verdict by the commands that anybody would type (`benchmarks/results/own_task_live.json`).
People read the amounts on the page and choose by inequality aversion with numbers of their own (Fehr and Schmidt, 1999)
and logistic noise; nobody tells the laboratory which theory that is.

References:
    Fehr & Schmidt (1999), Quarterly Journal of Economics 114(3), 817-868.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.page_people import Choose, Visit, drive  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.experiments.domains import open_domain  # noqa: E402
from lakatos.experiments.participants.web.texts import texts_for_domain  # noqa: E402

TASK = ROOT / "studies" / "tasks" / "fairness.toml"
TRIALS, CHECKS, SEED = 16, 1, 3
STUDY = """\
name = "fairness"
question = "How do people divide money between themselves and somebody else?"
seed = 3

[domain]
file = "fairness.toml"

[theories]
seeds = ["weighted_adding", "own_alone", "lexicographic", "welfare"]
candidates = 20
successors = 3
draws = 128

[design]
trials = {trials}
repetitions = 1
participants = {people}
candidates = 300
refused = "cover"

[participants]
source = "web"

[page]
checks = {checks}

[[page.questions]]
name = "age"
kind = "number"
text = "How old are you?"
when = "before"
least = 18
most = 120

[[page.questions]]
name = "share"
kind = "tick"
text = "My answers may be shared with other scientists."
when = "consent"
optional = true

[stop]
cycles = 2
least_cycles = 2
"""
AMOUNTS = re.compile(r"You get €(\d+) €(\d+) The other person gets €(\d+) €(\d+)")
CHECK = re.compile(r"please choose: Division ([AB])")
"""What an attention check says above its amounts."""


def person(number: int) -> Choose:
    """Somebody with an envy, a guilt and a steadiness of their own, who chooses the same when a page is read again."""
    rng = random.Random(f"{SEED} person {number}")
    envy, guilt = max(rng.gauss(0.8, 0.4), 0.0), max(rng.gauss(0.4, 0.2), 0.0)
    steady = rng.lognormvariate(-0.2, 0.4)

    def choose(text: str, place: int) -> int:
        said = CHECK.search(text)
        if said is not None:
            return "AB".index(said.group(1))
        found = AMOUNTS.search(text)
        if found is None:
            raise ValueError(f"no amounts on the page: {text}")
        first, second, other_first, other_second = map(int, found.groups())
        worth = [
            own - envy * max(other - own, 0) - guilt * max(own - other, 0)
            for own, other in ((first, other_first), (second, other_second))
        ]
        p = 1 / (1 + np.exp(-steady * (worth[1] - worth[0])))
        return int(random.Random(f"{SEED} {number} {text}").random() < p)

    return choose


def command(*words: str) -> list[str]:
    """The words of a command."""
    return [sys.executable, "-m", "lakatos.flows.commands.main", *words]


def call(steps: list[dict[str, Any]], folder: Path, *words: str) -> str:
    """Run a command, and note its time, its status and its last words."""
    begun = time.monotonic()
    done = subprocess.run(command(*words), cwd=folder, capture_output=True, text=True, check=False)
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    steps.append(
        {
            "command": " ".join(["lakatos", *words]),
            "status": done.returncode,
            "seconds": round(time.monotonic() - begun, 1),
            "words": " ".join(said[-3:])[-1200:],
        }
    )
    return done.stdout


def people_of(
    steps: list[dict[str, Any]], folder: Path, experiment: int, given: argparse.Namespace
) -> None:
    """Serve the page, invite people, and let them take part."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    links = call(steps, folder, "invite", str(given.people), "fairness", "--public-url", address)
    steps[-1]["command"] = steps[-1]["command"].replace(address, "http://127.0.0.1:8000")
    begun = time.monotonic()
    with (folder / "page.log").open("ab") as log:
        server = subprocess.Popen(
            command("collect", "fairness", "--port", str(port)), cwd=folder, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    seen: list[Visit] = []
    try:
        numbered = {experiment * 1000 + place: link for place, link in enumerate(links.split())}
        texts = texts_for_domain(open_domain(str(TASK)))["en"]["domains"]["fairness"]
        right = [item["right"] for item in texts["questions"]]
        asyncio.run(
            drive(
                numbered,
                person,
                right,
                chromium=given.chromium,
                at_once=given.at_once,
                n_steps=TRIALS + CHECKS,
                seed=SEED,
                finished=seen.append,
            )
        )
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(30)
    steps.append(
        {
            "command": "people on the page, in Chromium",
            "status": 0,
            "seconds": round(time.monotonic() - begun, 1),
            "finished": sum(bool(visit.code) for visit in seen),
            "problems": [visit.problem for visit in seen if visit.problem],
            "median_seconds_a_person": float(np.median([visit.seconds for visit in seen])),
        }
    )


def lines_in(text: str) -> int:
    """Lines that say something."""
    return sum(bool(line.split("#")[0].strip()) for line in text.splitlines())


def seconds_of(steps: list[dict[str, Any]], word: str) -> float:
    """Seconds of the steps that begin with a word."""
    return round(sum(item["seconds"] for item in steps if item["command"].startswith(word)), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--people", type=int, default=20, help="in each of two experiments")
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    out = ROOT / "benchmarks" / "results" / "own_task_live.json"
    parser.add_argument("--out", type=Path, default=out)
    given = parser.parse_args()
    folder = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "steps.json"
    steps: list[dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else []
    study = STUDY.format(trials=TRIALS, people=given.people, checks=CHECKS)
    shutil.copy(TASK, folder / "fairness.toml")
    (folder / "study.toml").write_text(study)
    plain = ("--engine", "none", "--workers", "1")
    todo = [
        lambda: call(steps, folder, "domain", "check", "fairness.toml", "--page", "trials.html"),
        lambda: call(steps, folder, "run", "study.toml", "--name", "fairness", *plain),
        lambda: people_of(steps, folder, 1, given),
        lambda: call(steps, folder, "resume", "fairness", *plain),
        lambda: people_of(steps, folder, 2, given),
        lambda: call(steps, folder, "resume", "fairness", *plain),
        lambda: call(steps, folder, "data", "export", "fairness", "--out", "answers", "--psych-ds"),
        lambda: call(steps, folder, "audit", "fairness"),
    ]
    n_done = json.loads((folder / "done").read_text()) if (folder / "done").exists() else 0
    for number, act in enumerate(todo[n_done:], start=n_done + 1):
        act()
        kept.write_text(json.dumps(steps))
        (folder / "done").write_text(str(number))
    found = {
        "provenance": provenance(),
        "seed": SEED,
        "people": 2 * given.people,
        "decisions_each": TRIALS,
        "lines_of_declaration": lines_in(TASK.read_text()),
        "lines_of_study": lines_in(study),
        "steps": steps,
        "seconds_of_commands": seconds_of(steps, "lakatos"),
        "seconds_of_people": seconds_of(steps, "people"),
    }
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
