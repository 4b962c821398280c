"""Two hundred people take part while the page dies and the code changes: nobody lost, nobody asked twice.

    python benchmarks/run.py survival --folder FOLDER      # goes on where it stopped; benchmarks/raw/survival.json

A study of two experiments, a hundred people each, all of them in Chromium. It runs from a copy of this checkout,
which is changed while people take part and before each pass:

- the server of the page is killed (SIGKILL) again and again, and begun again on the same port;
- a comment is edited in the module that scores theories; a domain with its theories is added; sentences of the German
  translation change, also of the consent; a package that computes (SciPy) is upgraded;
- passes run while people take part, and one is killed.

People reload, close the tab, lose the connection, double click, use the back button or go on in another browser. In the
second experiment twenty of the first open their links again. At the end the collection, the inbox and the journal are
held against what each person saw and did, and the run is audited.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.page_people import Visit, drive, open_page, parity
from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.web.texts import texts_for, words_of
from lakatos.traces.inbox import Inbox

TRIALS, CHECKS, SEED = 10, 1, 1
STUDY = """\
name = "survival"
question = "How do people choose between products that experts have rated?"
domain = "multiattribute"
seed = 1

[space]
validities = [0.9, 0.8, 0.7, 0.6]
levels = [0, 1, 2, 3]

[theories]
seeds = ["take_the_best", "tallying", "weighted_additive"]
candidates = 10

[design]
trials = {trials}
repetitions = 1
participants = {people}
random_share = 0.5
refused = "cover"

[participants]
source = "web"

[page]
checks = {checks}

[validation]
comparison_models = false

[stop]
cycles = 2
"""
ADDED_DOMAIN = '''"""Sweets now or later: a domain that was added while a study ran."""

from lakatos.domains.intertemporal.task import IntertemporalDomain


class SweetsDomain(IntertemporalDomain):
    name = "sweets"

    def family(self):
        from lakatos.domains.sweets.theories import FAMILY

        return FAMILY


DOMAIN = SweetsDomain()
'''


class Laboratory:
    """A copy of this checkout, which people's study runs from and which is changed under it."""

    def __init__(self, folder: Path, old_package: str) -> None:
        """Copy what git knows, and put an older release of a package before the installed one."""
        self.code, self.runs, self.old = folder / "code", folder / "runs", folder / "old-packages"
        self.run = self.runs / "survival"
        if not self.code.exists():
            names = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                cwd=ROOT,
                capture_output=True,
                check=True,
            )
            for name in filter(None, names.stdout.decode().split("\0")):
                if not (ROOT / name).exists() and not (ROOT / name).is_symlink():
                    continue
                (self.code / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.code / name, follow_symlinks=False)
        if old_package and not self.old.exists():
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-deps",
                    "--target",
                    str(self.old),
                    old_package,
                ],
                check=True,
            )

    @property
    def environment(self) -> dict[str, str]:
        """Of commands: the copy's code, with the older package as long as it is there."""
        places = [str(self.code), *([str(self.old)] if self.old.exists() else [])]
        return os.environ | {"PYTHONPATH": os.pathsep.join(places)}

    def command(self, *words: str) -> list[str]:
        """The words of a command of the copy."""
        return [sys.executable, "-m", "lakatos.flows.commands.main", *words]

    def call(self, *words: str, kill_after: float = 0.0) -> dict[str, Any]:
        """Run a command to its end, or kill it; its status, its time and its last words."""
        begun = time.monotonic()
        process = subprocess.Popen(
            self.command(*words),
            cwd=self.code,
            env=self.environment,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            said, _ = process.communicate(timeout=kill_after or None)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
        seconds = round(time.monotonic() - begun, 1)
        shown = [line.strip() for line in said.splitlines() if line.strip()]
        return {
            "command": " ".join(words[:1]),
            "status": process.returncode,
            "seconds": seconds,
            "words": " ".join(shown[-4:])[-400:].replace(str(self.runs), "runs"),
        }

    def serve(self, port: int) -> subprocess.Popen[bytes]:
        """Serve the page in a process group of its own."""
        with (self.runs / "page.log").open("ab") as log:
            return subprocess.Popen(
                self.command("collect", str(self.run), "--port", str(port)),
                cwd=self.code,
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    # What changes under the study ----------------------------------------------------------------------------------

    def edit_comment(self, words: str) -> str:
        """Add a comment to the module that scores theories."""
        path = self.code / "theories" / "scoring" / "score.py"
        path.write_text(f"{path.read_text()}\n# {words}\n")
        return f"a comment at the end of theories/engine/scoring/score.py: {words!r}"

    def translate(self, old: str, new: str) -> str:
        """Say something otherwise in German."""
        path = self.code / "experiments" / "participants" / "web" / "texts" / "de.toml"
        text = path.read_text()
        assert old in text, f"the German texts do not hold {old!r}"
        path.write_text(text.replace(old, new))
        return f"texts/de.toml: {old!r} is now {new!r}, {text.count(old)} times"

    def add_domain(self) -> str:
        """Add a kind of task with its theories."""
        folder = self.code / "domains" / "sweets"
        folder.mkdir()
        (folder / "__init__.py").write_text('"""Sweets."""\n')
        (folder / "task.py").write_text(ADDED_DOMAIN)
        (folder / "theories.py").write_text(
            '"""Theories about sweets."""\n\nfrom dataclasses import replace\n\n'
            "from lakatos.domains.intertemporal.theories import FAMILY as ELDER\n\n"
            'FAMILY = replace(ELDER, domain="sweets")\n'
        )
        path = self.code / "domains" / "__init__.py"
        line = '        "sweets": "lakatos.domains.sweets.task:DOMAIN",\n'
        path.write_text(
            path.read_text().replace(
                "] = PluginTable(\n    {\n", f"] = PluginTable(\n    {{\n{line}", 1
            )
        )
        return "the domain sweets with its theories, and its line in DOMAINS"

    def upgrade(self) -> str:
        """Take the older package away, so that the installed one counts."""
        (found,) = [path.name.removesuffix(".dist-info") for path in self.old.glob("*.dist-info")]
        shutil.rmtree(self.old)
        from importlib.metadata import version

        return f"{found} became {found.split('-')[0]}-{version(found.split('-')[0])}"


class Progress:
    """What happened so far, in a file, so that a second call goes on."""

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one."""
        self.path = path
        begun: dict[str, Any] = {
            "visits": [],
            "kills": [],
            "passes": [],
            "changes": [],
            "links": {},
        }
        self.known: dict[str, Any] = (
            json.loads(path.read_text(encoding="utf-8")) if path.exists() else begun
        )

    def note(self, name: str, value: Any) -> None:
        """Add to a list."""
        self.known[name].append(value)
        self.keep()

    def keep(self) -> None:
        """Write everything down."""
        self.path.write_text(json.dumps(self.known))


async def killing(
    lab: Laboratory, port: int, progress: Progress, experiment: int, every: float
) -> None:
    """Serve the page, and kill its server again and again; what changes under the study does so while it is gone."""
    rng = random.Random(f"{SEED} kills {experiment} {len(progress.known['kills'])}")
    changes = {
        (1, 0): lambda: lab.edit_comment("a remark, while people take part"),
        (1, 1): lambda: lab.translate("Entscheidung", "Wahl"),
        (1, 2): lab.add_domain,
        (1, 3): lab.upgrade if lab.old.exists() else (lambda: "nothing"),
        (2, 0): lambda: lab.edit_comment("another one, before the last pass"),
        (2, 1): lambda: lab.translate("Wahl", "Auswahl"),
    }
    process = lab.serve(port)
    begun, number = time.monotonic(), 0
    try:
        while True:
            await asyncio.sleep(rng.uniform(0.5, 1.5) * every)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            gone = rng.uniform(0, 4)
            done = sum(1 for item in progress.known["changes"] if item["experiment"] == experiment)
            if (experiment, done) in changes:
                told = changes[experiment, done]()
                progress.note("changes", {"experiment": experiment, "what": told})
            await asyncio.sleep(gone)
            process = lab.serve(port)
            number += 1
            progress.note(
                "kills",
                {
                    "experiment": experiment,
                    "at_s": round(time.monotonic() - begun, 1),
                    "gone_s": round(gone, 1),
                },
            )
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


async def passing(lab: Laboratory, progress: Progress, experiment: int, n_people: int) -> None:
    """One pass while people take part, when half of them have finished."""
    mine = [item for item in progress.known["passes"] if item.get("during") == experiment]
    while not mine:
        await asyncio.sleep(1)
        finished = [item for item in progress.known["visits"] if item["experiment"] == experiment]
        if 2 * len(finished) >= n_people:
            told = await asyncio.to_thread(
                lab.call, "resume", str(lab.run), "--engine", "none", "--workers", "1"
            )
            progress.note("passes", {**told, "during": experiment, "finished": len(finished)})
            return


async def collect(
    lab: Laboratory, progress: Progress, experiment: int, given: argparse.Namespace, port: int
) -> None:
    """The people of one experiment."""
    known = progress.known
    key = str(experiment)
    if key not in known["links"]:
        told = subprocess.run(
            lab.command(
                "invite",
                str(given.people // 2),
                str(lab.run),
                "--public-url",
                f"http://127.0.0.1:{port}",
            ),
            cwd=lab.code,
            env=lab.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        known["links"][key] = told.stdout.split()
        progress.keep()
    done = {item["person"] for item in known["visits"] if not item["problem"]}
    first = (experiment - 1) * (given.people // 2)
    links = {
        first + place: link
        for place, link in enumerate(known["links"][key])
        if first + place not in done
    }
    texts = texts_for("multiattribute")["en"]["domains"]["multiattribute"]["questions"]

    def finished(visit: Visit) -> None:
        progress.note("visits", {"experiment": experiment, **visit.to_json()})

    around = [
        asyncio.create_task(killing(lab, port, progress, experiment, given.kill_every)),
        asyncio.create_task(passing(lab, progress, experiment, given.people // 2)),
    ]
    people = drive(
        links,
        lambda _: parity,
        [item["right"] for item in texts],
        chromium=given.chromium,
        at_once=given.at_once,
        n_steps=TRIALS + CHECKS,
        seed=SEED,
        german_share=1 / 3,
        finished=finished,
    )
    try:
        if given.most_seconds:
            await asyncio.wait_for(people, given.most_seconds)
        else:
            await people
        if experiment == 2:
            await come_again(progress, given)
        await around[1]
    finally:
        for task in around:
            task.cancel()
        await asyncio.gather(*around, return_exceptions=True)


async def come_again(progress: Progress, given: argparse.Namespace) -> None:
    """Twenty people of the first experiment open their links during the second one, in a new browser."""
    from playwright.async_api import async_playwright

    shown: Counter[str] = Counter()
    codes = {
        item["person"]: item["code"] for item in progress.known["visits"] if item["experiment"] == 1
    }
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=given.chromium, args=["--no-sandbox"]
        )
        for person, link in list(enumerate(progress.known["links"]["1"]))[:20]:
            context = await browser.new_context(locale="en-GB")
            page = await open_page(context, link, Visit(person, "en-GB", []))
            await page.locator("#agree").check()
            await page.locator("main .row button").first.click()
            await page.locator("#agree").wait_for(state="detached")
            await page.locator("main h1").wait_for()
            found = page.locator("main .code")
            own = await found.count() and await found.inner_text() == codes.get(person)
            shown["their own code" if own else await page.locator("main h1").inner_text()] += 1
            await context.close()
        await browser.close()
    progress.known["came_again"] = dict(shown)
    progress.keep()


def held_against(lab: Laboratory, progress: Progress, n_people: int) -> dict[str, Any]:
    """What people saw and did against the collection, the inbox and the journal."""
    from lakatos.experiments.record import AnswersArrived
    from lakatos.flows.run.run import read_state

    state, trace = read_state(lab.run)
    batches = [
        PersonAnswers.from_json(batch.json()) for batch in Inbox(lab.run / "inbox.sqlite").stored()
    ]
    domain = DOMAINS["multiattribute"]
    designs = {}
    with sqlite3.connect(lab.run / "collection.sqlite") as sql:
        from lakatos.experiments.design import design_from_json

        for name, content in sql.execute("SELECT name, content FROM experiment"):
            designs[name] = design_from_json(json.loads(content)["design"])
        n_sessions = dict(
            sql.execute("SELECT status, count(*) FROM session GROUP BY status").fetchall()
        )
        n_stored = sql.execute("SELECT count(*) FROM answer").fetchone()[0]
    wrong_rows = wrong_answers = 0
    for person in batches:
        design = designs[person.experiment]
        wanted = sorted(list(range(len(design.stimuli))) * design.repetitions)
        wrong_rows += sorted(person.trial) != wanted
        for row, response in zip(person.trial, person.response, strict=True):
            words = " ".join(words_of(domain.picture(design.stimuli, row)))
            wrong_answers += response != parity(words, 0)
    visits = [item for item in progress.known["visits"] if not item["problem"]]
    people = Counter(person.person for person in batches)
    arrived = [item.record for item in trace.records(AnswersArrived)]
    tables = {name: item.record.n_people for name, item in state.experiments.collected.items()}
    return {
        "people_sent": n_people,
        "people_who_saw_their_code": len(visits),
        "sessions_by_status": n_sessions,
        "people_in_inbox": len(people),
        "people_in_inbox_twice": sum(number > 1 for number in people.values()),
        "people_in_the_journal": len({item.person for item in arrived}),
        "people_in_trial_tables": tables,
        "people_without_each_trial_once": wrong_rows,
        "answers_in_inbox": sum(len(person.trial) for person in batches),
        "answers_in_collection_with_checks": n_stored,
        "answers_kept_for_another_trial_or_changed": wrong_answers,
        "decisions_shown_again_after_the_next_one": sum(item["shown_again"] for item in visits),
        "mishaps": dict(Counter(kind for item in visits for kind in item["mishaps"])),
        "in_german": sum(item["language"] == "de-DE" for item in visits),
        "times_the_address_did_not_answer": sum(
            item["arrivals"]
            - 1
            - sum(
                kind in ("closed tab", "another browser", "back button") for kind in item["mishaps"]
            )
            for item in visits
        ),
        "people_of_the_first_experiment_who_came_again_saw": progress.known.get("came_again", {}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--folder", type=Path, required=True, help="of the copy and the run")
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=10, help="browsers at the same time")
    parser.add_argument("--kill-every", type=float, default=25.0, help="mean seconds")
    parser.add_argument(
        "--old-package", default="scipy==1.16.3", help="with which the study begins; empty for none"
    )
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    parser.add_argument(
        "--most-seconds",
        type=float,
        default=0.0,
        help="of one experiment's people; goes on when called again",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "raw" / "survival.json")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    progress = Progress(given.folder / "progress.json")
    begun_before = progress.path.exists()
    lab = Laboratory(given.folder, "" if begun_before else given.old_package)
    lab.runs.mkdir(exist_ok=True)
    known = progress.known
    with socket.socket() as free:
        free.bind(("127.0.0.1", known.get("port", 0)))
        known["port"] = port = free.getsockname()[1]
    progress.keep()
    study = given.folder / "survival.toml"
    study.write_text(STUDY.format(trials=TRIALS, people=given.people // 2, checks=CHECKS))
    plain = ("--engine", "none", "--workers", "1")
    if not lab.run.exists():
        told = lab.call("run", str(study), "--runs", str(lab.runs), "--name", "survival", *plain)
        if told["status"] != 3:
            raise SystemExit(f"the study did not begin: {told['words']}")
        progress.note("passes", told)
    for experiment in (1, 2):
        if known.get("collected", 0) < experiment:
            known.setdefault("began", time.time())
            loads = os.getloadavg()[0]
            asyncio.run(collect(lab, progress, experiment, given, port))
            known["collected"] = experiment
            known.setdefault("load_average", []).append(round(loads, 1))
            progress.keep()
        if known.get("analysed", 0) < experiment:
            if experiment == 1 and not known.get("pass_killed"):
                progress.note("passes", lab.call("resume", str(lab.run), *plain, kill_after=6.0))
                known["pass_killed"] = True
            told = lab.call("resume", str(lab.run), *plain)
            progress.note("passes", told)
            if told["status"] not in (0, 3):
                raise SystemExit(f"the study is stranded: {told['words']}")
            known["analysed"] = experiment
            progress.keep()
    audited = lab.call("audit", str(lab.run))
    found = {
        "provenance": provenance(),
        "browsers_at_once": given.at_once,
        "load_average": known["load_average"],
        "changes": known["changes"],
        "servers_killed": len(known["kills"]),
        "seconds_without_a_server": round(sum(item["gone_s"] for item in known["kills"]), 1),
        "passes": known["passes"],
        "audit": audited,
        "problems": [item["problem"] for item in known["visits"] if item["problem"]],
        "seconds_a_person": sorted(item["seconds"] for item in known["visits"])[
            len(known["visits"]) // 2
        ],
        **held_against(lab, progress, given.people),
    }
    given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
