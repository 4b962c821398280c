"""A task that is declared in TOML alone, from its declaration through the live page to a verdict.

    python benchmarks/run.py own_task_live --folder FOLDER                  # goes on where it stopped
    python benchmarks/run.py own_task_live --folder FOLDER --task cards --people 16

A dictator game (`studies/tasks/fairness.toml`) is checked, run, served, answered in Chromium by people in two
experiments, and brought to a verdict by the commands that anybody would type (`benchmarks/raw/own_task_live.json`).
People read the amounts on the page and choose by inequality aversion with numbers of their own (Fehr and Schmidt, 1999)
and logistic noise; nobody tells the laboratory which theory that is. Likewise, in one experiment, two decks of cards
(`studies/tasks/cards.toml`, `benchmarks/raw/own_task_live_cards.json`): people read on the page what they won and
learn by the delta rule with a rate of their own, about 0.4, and logistic noise.

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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.page_people import Choose, Visit, drive
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import open_domain
from lakatos.experiments.participants.web.texts import texts_for_domain

TASKS = ROOT / "studies" / "tasks"
TRIALS, CHECKS, SEED = 16, 1, 3
FAIRNESS = """\
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
CARDS = """\
name = "cards"
question = "How do people learn which of two decks of cards is the better one?"
seed = 3

[domain]
file = "cards.toml"

[space]
steps = {trials}
blocks = 1

[theories]
seeds = ["rescorla_wagner", "choice_kernel", "win_stay_lose_shift", "random"]
candidates = 10
successors = 2
draws = 128

[design]
participants = {people}
refused = "cover"

[participants]
source = "web"

[page]
checks = {checks}

[stop]
cycles = 1
least_cycles = 1
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


WON = re.compile(r"You won (\d+|nothing)")


def learner(number: int) -> Choose:
    """Somebody who learns from what the page tells, and who chooses the same when a page is read again."""
    rng = random.Random(f"{SEED} learner {number}")
    rate, steady = min(max(rng.gauss(0.4, 0.1), 0.05), 0.95), rng.lognormvariate(1.6, 0.3)
    values, chosen, latest = [0.5, 0.5], dict[int, int](), -1

    def choose(text: str, place: int) -> int:
        nonlocal values, latest
        said = CARDS_CHECK.search(text)
        if said is not None:
            return ("Red deck", "Blue deck").index(said.group(1))
        if place in chosen:
            return chosen[place]
        told = WON.search(text)
        if latest >= 0:
            if told is None:
                raise ValueError(f"no outcome on the page: {text}")
            share = 0.0 if told.group(1) == "nothing" else int(told.group(1)) / 10
            values[latest] += rate * (share - values[latest])
        if "A new game begins" in text:
            values = [0.5, 0.5]
        p = 1 / (1 + np.exp(-steady * (values[1] - values[0])))
        latest = chosen[place] = int(rng.random() < p)
        return latest

    return choose


CARDS_CHECK = re.compile(r"please choose: (Red deck|Blue deck)")


@dataclass(frozen=True)
class LiveTask:
    """A declared task with the people who take part in it."""

    name: str
    study: str
    """Text of the study file, with places for trials, people and checks."""
    person: Callable[[int], Choose]
    n_trials: int
    n_experiments: int


LIVE = {
    "fairness": LiveTask("fairness", FAIRNESS, person, TRIALS, 2),
    "cards": LiveTask("cards", CARDS, learner, 20, 1),
}


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
    steps: list[dict[str, Any]],
    folder: Path,
    task: LiveTask,
    experiment: int,
    given: argparse.Namespace,
) -> None:
    """Serve the page, invite people, and let them take part."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    links = call(steps, folder, "invite", str(given.people), task.name, "--public-url", address)
    steps[-1]["command"] = steps[-1]["command"].replace(address, "http://127.0.0.1:8000")
    begun = time.monotonic()
    with (folder / "page.log").open("ab") as log:
        server = subprocess.Popen(
            command("collect", task.name, "--port", str(port)), cwd=folder, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    seen: list[Visit] = []
    try:
        numbered = {experiment * 1000 + place: link for place, link in enumerate(links.split())}
        domain = open_domain(str(TASKS / f"{task.name}.toml"))
        texts = texts_for_domain(domain)["en"]["domains"][task.name]
        right = [item["right"] for item in texts["questions"]]
        asyncio.run(
            drive(
                numbered,
                task.person,
                right,
                chromium=given.chromium,
                at_once=given.at_once,
                n_steps=task.n_trials + CHECKS,
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
    parser.add_argument("--task", choices=list(LIVE), default="fairness")
    parser.add_argument("--people", type=int, default=20, help="in each experiment")
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    task = LIVE[given.task]
    end = "" if task.name == "fairness" else f"_{task.name}"
    out = given.out or ROOT / "benchmarks" / "raw" / f"own_task_live{end}.json"
    folder = given.folder
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "steps.json"
    steps: list[dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else []
    study = task.study.format(trials=task.n_trials, people=given.people, checks=CHECKS)
    file = f"{task.name}.toml"
    shutil.copy(TASKS / file, folder / file)
    (folder / "study.toml").write_text(study)
    plain = ("--engine", "none", "--workers", "1")
    todo = [
        lambda: call(steps, folder, "domain", "check", file, "--page", "trials.html"),
        lambda: call(steps, folder, "run", "study.toml", "--name", task.name, *plain),
    ]
    for experiment in range(1, task.n_experiments + 1):
        todo += [
            lambda experiment=experiment: people_of(steps, folder, task, experiment, given),
            lambda: call(steps, folder, "resume", task.name, *plain),
        ]
    todo += [
        lambda: call(steps, folder, "data", "export", task.name, "--out", "answers", "--psych-ds"),
        lambda: call(steps, folder, "audit", task.name),
    ]
    n_done = json.loads((folder / "done").read_text()) if (folder / "done").exists() else 0
    for number, act in enumerate(todo[n_done:], start=n_done + 1):
        act()
        kept.write_text(json.dumps(steps))
        (folder / "done").write_text(str(number))
    found = {
        "provenance": provenance(),
        "seed": SEED,
        "people": task.n_experiments * given.people,
        "decisions_each": task.n_trials,
        "lines_of_declaration": lines_in((TASKS / file).read_text()),
        "lines_of_study": lines_in(study),
        "steps": steps,
        "seconds_of_commands": seconds_of(steps, "lakatos"),
        "seconds_of_people": seconds_of(steps, "people"),
    }
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
