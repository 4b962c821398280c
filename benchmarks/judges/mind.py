"""Which of two hundred drafts of a real mind deserve a fit: those of a language model, screened before they are fitted.

    python benchmarks/judges/mind.py --show WORLD    # what its writer was shown
    python benchmarks/judges/mind.py                 # resumes; benchmarks/results/judges/mind.json

Four worlds of the kinds of `drafts.py`, of which the seed says which experiments or which hidden rule. The writer saw
what `shown` prints, a table of trials with shares and counts, and nothing else of a world: neither the rule nor any
score. Its fifty drafts of each world stand in ``mind/WORLD.txt``. All are fitted, so that the best is known, by the
score of each person with people learned from the others; what is counted is that of `drafts.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.cells import complete  # noqa: E402
from benchmarks.judges.drafts import screened, summary  # noqa: E402
from benchmarks.judges.elsewhere import (  # noqa: E402
    ARCHIVES,
    GROUPS,
    SIMULATED,
    SplitWorld,
    archived_world,
    simulated_world,
)
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import DOMAINS  # noqa: E402
from lakatos.experiments.task import Trials  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402
from lakatos.theories.errors import TheoryError  # noqa: E402
from lakatos.theories.language.theory import TheoryProgram, read_program  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "judges" / "mind.json"
DRAFTS = Path(__file__).resolve().parent / "mind"
SEED = 300
"""Of all worlds; none of `drafts.py` has it."""


KINDS = {
    "u": ("uniform", ("low", "high")),
    "lu": ("log_uniform", ("low", "high")),
    "n": ("normal", ("mean", "sd", "low", "high")),
    "ln": ("log_normal", ("median", "log_sd", "low", "high")),
}
HELPERS = {
    "sig": """def sig(evidence, xp):
    return 1 / (1 + xp.exp(-xp.clip(evidence, -50, 50)))""",
    "soft": """def soft(worth, xp):
    raised = xp.exp(worth - worth.max(axis=-1)[..., None])
    return raised / raised.sum(axis=-1)[..., None]""",
    "pick": """def pick(worth, xp):
    best = (worth >= worth.max(axis=-1)[..., None] - 1e-9) * 1.0
    return best / best.sum(axis=-1)[..., None]""",
}
ARRAYS = {
    "multiattribute": (
        'a = trials["ratings"][:, 0]',
        'b = trials["ratings"][:, 1]',
        'v = trials["validities"]',
        "d = b - a",
        "k = xp.arange(v.shape[-1])",
        "first = ((xp.cumsum(xp.abs(d), -1) == 1) * d).sum(-1)",
    ),
    "intertemporal": (
        'turned = trials["delays_days"][:, 0] > trials["delays_days"][:, 1]',
        "flip = turned * 2.0 - 1",
        'x = xp.where(turned, trials["amounts"][:, 1], trials["amounts"][:, 0])',
        'y = xp.where(turned, trials["amounts"][:, 0], trials["amounts"][:, 1])',
        'f = trials["delays_days"].min(axis=-1)',
        't = trials["delays_days"].max(axis=-1)',
        "g = t - f",
        "r = y / x",
        "lr = xp.log(r)",
    ),
    "offers": (
        'price = trials["price"]',
        'years = trials["contract_years"]',
        'local = trials["local"]',
        'known = trials["well_known"]',
        'tod = trials["time_of_day"]',
        'seasonal = trials["seasonal"]',
        "rate = xp.where(price > 0, price, 8.0)",
        "fam = 2.0 * local + known",
    ),
}
"""What short forms may name: of two dated payments the sooner is ``x`` after ``f`` days, the later ``y`` after ``t``;
they say the probability of waiting."""


def groups() -> dict[str, str]:
    """The four worlds by name: two public ones, and two domains of simulated people by lot."""
    drawn = np.random.default_rng(SEED).permutation(SIMULATED)[:2]
    return {"binary": "binary", "framing": "framing"} | {
        f"rule-{name}": f"simulated {name}" for name in drawn
    }


def world_of(group: str, laboratory: Laboratory, data: Path) -> SplitWorld:
    """People and trials of one world."""
    rng = np.random.default_rng([SEED, GROUPS.index(group), 7])
    if group in ARCHIVES:
        return archived_world(group, rng, data)
    return simulated_world(group.split()[1], rng, laboratory)


def domain_of(group: str) -> str:
    """Name of a group's domain."""
    return ARCHIVES[group][1] if group in ARCHIVES else group.split()[1]


def shown(name: str, data: Path) -> str:
    """Every trial of what teaches, with the share of answers for each option, as the writer saw it."""
    group = groups()[name]
    with Laboratory(DOMAINS[domain_of(group)], n_workers=1) as laboratory:
        world = world_of(group, laboratory, data)
    return "\n\n".join(_table(domain_of(group), item) for item in world.taught)


def _table(domain: str, trials: Trials) -> str:
    """One experiment."""
    people = f"{trials.n_participants} people"
    lines = [f"{trials.experiment}: {people}, arrays {', '.join(trials.stimuli.arrays)}"]
    for row, counts in enumerate(trials.totals):
        shares = "/".join(f"{share:.2f}" for share in counts[1:] / max(counts.sum(), 1))
        told = DOMAINS[domain].describe(trials.stimuli, row)
        lines.append(f"{told}  {shares} of {int(counts.sum())}")
    return "\n".join(lines)


def drafts_of(name: str) -> list[str]:
    """Sources that the writer sent for a world, in the order in which it wrote them."""
    text = (DRAFTS / f"{name}.txt").read_text()
    domain = domain_of(groups()[name])
    return [written_out(domain, part.strip()) for part in text.split("\n=== ")[1:]]


def written_out(domain: str, short: str) -> str:
    """A draft in the contract of theories, from its short form: claim, parameters, and lines of which the last is said.

    Arrays and functions of `HELPERS` and `ARRAYS` are written where they are used.
    """
    claim, given, *lines = short.splitlines()
    priors = dict(_prior(item.split()) for item in given.split(";"))
    words = " ".join(lines)
    deeper = "[..., None]" if domain == "offers" else ""
    body = [f'{name} = parameters["{name}"]{deeper}' for name in priors]
    body += _needed(ARRAYS[domain], words) + lines[:-1]
    said = lines[-1]
    if "lapse" in priors:
        said = f"(1 - lapse) * ({said}) + lapse / {4 if domain == 'offers' else 2}"
    if domain == "intertemporal":
        body.append(f"wait = {said}")
        said = "xp.where(turned, 1 - wait, wait)"
    helpers = [text for call, text in HELPERS.items() if f"{call}(" in words]
    choose = "\n    ".join(["def choose(parameters, trials, xp):", *body, f"return {said}"])
    return "\n\n".join([f'"""{claim}"""', f"PARAMETERS = {priors!r}", *helpers, choose]) + "\n"


def _prior(words: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """A parameter and its prior, from ``name kind numbers``."""
    name, kind, *numbers = words
    prior, keys = KINDS[kind]
    values = [float(number) for number in numbers]
    if kind == "ln":
        values += [values[0] / 100, values[0] * 100]
    return name, {"prior": prior} | dict(zip(keys, values, strict=True))


def _needed(lines: Sequence[str], words: str) -> list[str]:
    """Lines whose name a draft or a later line uses, and in any case what says which payment comes first."""
    kept: list[str] = []
    for line in reversed(lines):
        name = line.partition(" = ")[0]
        used = " ".join([words, *(item.partition(" = ")[2] for item in kept)])
        if name == "turned" or re.search(rf"(?<![\w.\"]){name}\b", used):
            kept.append(line)
    return kept[::-1]


def cell(name: str, data: Path) -> dict[str, Any]:
    """One world: every draft's scores before a fit, and after it."""
    group = groups()[name]
    with Laboratory(DOMAINS[domain_of(group)], n_workers=1) as laboratory:
        trials = world_of(group, laboratory, data).taught
        lines = [_scored(laboratory, source, trials) for source in drafts_of(name)]
    return {"world": name, "drafts": lines}


def _scored(laboratory: Laboratory, source: str, trials: Sequence[Trials]) -> dict[str, Any]:
    """One draft; where it cannot be run, why."""
    program = TheoryProgram(source, "mind")
    try:
        theory = read_program(program)
        before = screened(laboratory, theory, trials)
    except TheoryError as error:
        return {"error": str(error)}
    after = laboratory.evaluate_program(program, trials)
    if isinstance(after, TheoryError):
        return {"error": str(after)}
    fitted = float(np.mean([item.mean for item in after.left_out]))
    return {"name": theory.name, **before, "fitted": round(fitted, 6)}


def main() -> None:
    """Show a world, or run what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--show", choices=list(groups()))
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LAKATOS_DATA", "data")))
    options = parser.parse_args()
    if options.show:
        print(shown(options.show, options.data))
        return
    wanted = [(name,) for name in groups() if (DRAFTS / f"{name}.txt").exists()]
    cells = complete(
        options.out, cell, wanted, ("world",), 1, order=lambda item: item["world"],
        extra=(options.data,),
    )  # fmt: skip
    found = summary([{**item, "drafts": _ran(item)} for item in cells])
    options.out.write_text(
        json.dumps({**provenance(), "summary": found, "cells": cells}, indent=1) + "\n"
    )
    for name, line in found.items():
        print(name, line)


def _ran(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Scores of a world's drafts that could be run."""
    names = ("declared", "before fit", "fitted")
    return [{name: line[name] for name in names} for line in item["drafts"] if "error" not in line]


if __name__ == "__main__":
    main()
