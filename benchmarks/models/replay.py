"""Campaigns that a capable model answered through the bridge, kept as study and answers, and run again.

After a change of prompts the same answers give the same theories, so that what the prompts cost can be compared, and
another model can be given the same study. Citations are kept by the title of what they cite, since digests change;
claims have the digits, names and trials that are shown now.

    python benchmarks/run.py models/replay keep STUDY.toml RUN benchmarks/models/replays/NAME.json
    python benchmarks/run.py models/replay run benchmarks/models/replays/NAME.json NEW_RUN
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks.models.prefixes import measure
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import parse_study
from lakatos.flows.start import run_study
from lakatos.language_models.client import ModelCompletion, ModelRequest
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.discovery.roles.record import CaseRead
from lakatos.traces.step import Trace
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

CONTEXT_TOKENS = 65536
_SHOWN = re.compile(r"<data \w+ from (.*?)(?:, part \d+ of \d+)? (#[0-9a-f]+)>")
_KINDS = {"statements": "read", "case": "advocate", "source": "write", "pitfalls": "reflect"}
"""Kinds of answers, by a field that only they have."""


def kind_of(schema: Mapping[str, Any], text: str) -> str:
    """What a request asks for; empty for what is not kept."""
    found = next((kind for name, kind in _KINDS.items() if name in schema["properties"]), "")
    return f"{found} again" if "do not count yet" in text else found


def kept(requests: list[tuple[ModelRequest, str]]) -> dict[str, list[Any]]:
    """Answers by kind, in their order, with titles in place of the digests that they cite."""
    answers: dict[str, list[Any]] = defaultdict(list)
    for request, content in requests:
        text = "\n".join(message.content for message in request.messages)
        titles = {mark: title for title, mark in reversed(_SHOWN.findall(text))}
        named = re.sub(r"#[0-9a-f]{8,64}", partial(_titled, titles), content)
        assert request.answer_schema is not None
        answers[kind_of(request.answer_schema, text)].append(json.loads(named))
    return dict(answers)


def _titled(titles: Mapping[str, str], mark: re.Match[str]) -> str:
    return next((f"#{{{titles[one]}}}" for one in titles if one.startswith(mark[0])), mark[0])


class KeptAnswers:
    """Gives the kept answers of a kind one after another, citing what is shown now."""

    def __init__(self, answers: Mapping[str, list[Any]]) -> None:
        self.left = {kind: list(items) for kind, items in answers.items()}
        self.missing: list[str] = []

    def __call__(self, body: Mapping[str, Any], rng: np.random.Generator) -> str | None:
        """The next answer of the kind that a request asks for; None for chance where there is none."""
        text = "\n".join(message["content"] for message in body["messages"])
        kind = kind_of(body["response_format"]["json_schema"]["schema"], text)
        if not self.left.get(kind):
            self.missing.append(kind)
            return None
        marks = dict(reversed(_SHOWN.findall(text)))
        said = json.dumps(self.left[kind].pop(0))
        return re.sub(r"#\{(.*?)\}", lambda found: marks.get(found[1], "#00000000"), said)


def keep(study: Path, run: Path, out: Path) -> None:
    """Write study and answers of a finished campaign."""
    value = tomllib.loads(study.read_text(encoding="utf-8"))
    people = value["participants"]
    people["program"] = (study.parent / people.pop("program_file")).read_text(encoding="utf-8")
    with Trace.open(run, RECORD_TYPES, read_only=True) as trace:
        calls = [item.record for item in trace.records(LanguageModelCalled)]
        requests = [
            (
                ModelRequest.model_validate_json(trace.artifacts.get(item.request)),
                ModelCompletion.model_validate_json(trace.artifacts.get(item.completion)).content,
            )
            for item in calls
            if item.role != "probe"
        ]
    out.write_text(
        json.dumps({"study": value, "answers": kept(requests)}, indent=1) + "\n", encoding="utf-8"
    )


def replay(file: Path, run: Path) -> dict[str, Any]:
    """Run a kept campaign again and state what its prompts cost and what came of it."""
    known = json.loads(file.read_text(encoding="utf-8"))
    answers = KeptAnswers(known["answers"])
    (model,) = known["study"][
        "models"
    ].values()  # its address is a part of the study, and of its chance
    settings = RehearsalSettings(model=model["model"], context_tokens=CONTEXT_TOKENS)
    with running(settings, answers, urlsplit(model["base_url"]).port):
        run_study(parse_study(known["study"], file.name), run, n_workers=1)
    state, trace = read_state(run)
    statements = [
        statement for item in trace.records(CaseRead) for statement in item.record.statements
    ]
    trace.close()
    truth, concluded = state.campaign.truth, state.campaign.concluded
    assert truth is not None
    assert concluded is not None
    return {
        "leader": state.theories.name(concluded.record.leader),
        "error_against_the_rule": truth.record.corrected[concluded.record.leader],
        "statements": len(statements),
        "statements_not_supported": sum(not item.supported for item in statements),
        "answers_left": {kind: len(items) for kind, items in answers.left.items() if items},
        "answers_missing": answers.missing,
        "prompts": measure(run),
    }


def main() -> None:
    """Keep a campaign, or run a kept one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    does = parser.add_subparsers(dest="what", required=True)
    keeping, again = does.add_parser("keep"), does.add_parser("run")
    for name in ("study", "run", "out"):
        keeping.add_argument(name, type=Path)
    for name in ("file", "run"):
        again.add_argument(name, type=Path)
    given = parser.parse_args()
    if given.what == "keep":
        keep(given.study, given.run, given.out)
    else:
        print(json.dumps(replay(given.file, given.run), indent=1))


if __name__ == "__main__":
    main()
