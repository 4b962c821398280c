"""Whether signatures tell plans apart that differ, and only those.

    python benchmarks/run.py memory/signature    # benchmarks/raw/memory/signature.json

Plans are drawn from a grammar of verbs and kinds of things, as words and as calls of tools. A *paraphrase* has other
values, other words for its verbs (some of which no table knows), other punctuation, and its reads in another order; a
*near miss* has another verb, another kind of thing, its writes in another order, a step more or less, or a value tied
to another place. Per seed there are 200 pairs of each. Three ways: *words* takes the text in lower case (naive),
*typed* strips literals but keeps the order (published step a to c), *ours* is `memory.signature`.

What would make this fail: paraphrases by words that are not in the table, which cost recall; never precision.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory.summary import over_seeds, write
from benchmarks.memory.words import SYNONYMS, steps_of_words
from lakatos.memory.signature import signature

READS, WRITES = (
    ("find", "read", "list", "check", "compare"),
    ("delete", "add", "create", "update", "send"),
)
THINGS = (
    "playlist",
    "song",
    "order",
    "invoice",
    "theory",
    "design",
    "person",
    "message",
    "file",
    "score",
)
WORDS = {
    verb: [word for word, meaning in SYNONYMS.items() if meaning == verb]
    for verb in (*READS, *WRITES)
}
UNKNOWN = {
    "find": "spot",
    "delete": "purge",
    "create": "assemble",
    "send": "dispatch",
    "check": "audit",
}
"""Words that mean the same and stand in no table; used in a twentieth of verbs."""
Clause = tuple[str, str, int]
"""Verb, thing, and number of the value."""


def draw(rng: np.random.Generator) -> list[Clause]:
    """Some reads, then some writes, now and then a read between writes; values may recur."""
    reads = [
        (str(rng.choice(READS)), str(rng.choice(THINGS)), int(value))
        for value in range(rng.integers(1, 4))
    ]
    writes = []
    for _ in range(rng.integers(1, 4)):
        verb, thing = str(rng.choice(WRITES)), str(rng.choice(THINGS))
        same = [value for _, known, value in reads if known == thing]
        writes.append((verb, thing, same[0] if same and rng.random() < 0.5 else 10 + len(writes)))
    return list(dict.fromkeys(reads)) + list(dict.fromkeys(writes))


def spoken(clauses: list[Clause], rng: np.random.Generator, *, plain: bool) -> str:
    """A plan in words, with values drawn anew."""
    values = rng.permutation(900)[:40] + 100
    parts = []
    for verb, thing, value in clauses:
        said = verb if plain else str(rng.choice(WORDS[verb]))
        if not plain and verb in UNKNOWN and rng.random() < 0.05:
            said = UNKNOWN[verb]
        literal = (
            f"'{chr(65 + values[value] % 26)}{values[value]}'"
            if thing in THINGS[:5]
            else str(values[value])
        )
        article = "" if plain or rng.random() < 0.5 else "the "
        parts.append(f"{said} {article}{thing} {literal}")
    joint = ", " if plain else str(rng.choice([", ", " and ", "; ", " then ", ".\n"]))
    text = joint.join(parts)
    return text if plain or rng.random() < 0.5 else text.capitalize() + "."


def reordered(clauses: list[Clause], rng: np.random.Generator) -> list[Clause]:
    """The same with the leading reads in another order."""
    n = sum(1 for verb, _, _ in clauses if verb in READS)
    return [clauses[place] for place in rng.permutation(n)] + clauses[n:]


def missed(clauses: list[Clause], rng: np.random.Generator) -> tuple[str, list[Clause]]:
    """A plan that looks alike and is another one."""
    place = int(rng.integers(len(clauses)))
    verb, thing, value = clauses[place]
    kinds = {
        "verb": [
            *clauses[:place],
            (other(verb, READS if verb in READS else WRITES, rng), thing, value),
            *clauses[place + 1 :],
        ],
        "thing": [
            *clauses[:place],
            (verb, other(thing, THINGS, rng), value),
            *clauses[place + 1 :],
        ],
        "fewer": clauses[:-1],
        "more": [*clauses, (str(rng.choice(WRITES)), str(rng.choice(THINGS)), 30)],
    }
    writes = [number for number, clause in enumerate(clauses) if clause[0] in WRITES]
    if len(writes) > 1 and clauses[writes[0]][:2] != clauses[writes[1]][:2]:
        swapped = list(clauses)
        swapped[writes[0]], swapped[writes[1]] = swapped[writes[1]], swapped[writes[0]]
        kinds["order of writes"] = swapped
    tied = [number for number in writes if clauses[number][2] < 10]
    if tied:
        loose = list(clauses)
        loose[tied[0]] = (*loose[tied[0]][:2], 31)
        kinds["tie"] = loose
    name = str(rng.choice(list(kinds)))
    return name, kinds[name]


def other(word: str, words: tuple[str, ...], rng: np.random.Generator) -> str:
    return str(rng.choice([item for item in words if item != word]))


def typed(text: str) -> str:
    """Literals stripped, order kept."""
    return re.sub(r"'[^']*'|\d+", "#", text.lower())


WAYS = {"words": str.lower, "typed": typed, "ours": lambda text: signature(steps_of_words(text))}


def pairs(seed: int, n: int) -> dict[str, dict[str, float]]:
    """Precision and recall of each way on ``n`` pairs of each sort."""
    rng = np.random.default_rng([seed, 20])
    merged = {way: [0, 0] for way in WAYS}
    false: dict[str, int] = {}
    for _ in range(n):
        plan = draw(rng)
        one = spoken(plan, rng, plain=True)
        same = spoken(reordered(plan, rng), rng, plain=False)
        while True:
            kind, near = missed(plan, rng)
            if (near and sorted(near) != sorted(plan)) or kind == "order of writes":
                break
        miss = spoken(reordered(near, rng), rng, plain=True)
        for way, form in WAYS.items():
            merged[way][0] += form(one) == form(same)
            is_merged = form(one) == form(miss)
            merged[way][1] += is_merged
            if way == "ours" and is_merged:
                false[kind] = false.get(kind, 0) + 1
    found = {}
    for way, (true, wrong) in merged.items():
        found[way] = {
            "recall": true / n,
            "precision": true / (true + wrong) if true + wrong else 1.0,
        }
    return {**found, "false merges": {kind: float(number) for kind, number in false.items()}}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seeds", type=int, default=200)
    arguments.add_argument("--pairs", type=int, default=200)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun = time.monotonic()
    runs = [pairs(seed, given.pairs) for seed in range(given.seeds)]
    rows: list[dict[str, Any]] = [
        {
            "way": way,
            **{
                name: over_seeds([run[way][name] for run in runs])
                for name in ("precision", "recall")
            },
        }
        for way in WAYS
    ]
    false: dict[str, float] = {}
    for run in runs:
        for kind, number in run["false merges"].items():
            false[kind] = false.get(kind, 0) + number
    write(
        "signature",
        time.monotonic() - begun,
        {"rows": rows, "false_merges_of_ours": false},
        given.out,
    )
    for row in rows:
        print(
            row["way"], row["precision"]["mean"], row["recall"]["mean"], row["precision"]["worst"]
        )
    print(false)
