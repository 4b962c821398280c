"""Does the whole loop find a rule that is in no family? One campaign for each hidden rule, in all domains.

    python benchmarks/run.py theories/discovery      # resumes where it stopped; benchmarks/raw/theories/discovery.json

Hidden rules are theories of their own: those of `RULES`, and those that somebody wrote who had not read what the search
has to offer (`benchmarks.theories.outside_rules`), divided by lot into rules for development and rules held out. The
measure is the mean squared error of choice proportions against the rule without its declared lapses, over the whole
space (or eight schedules, or 20,000 sampled trials): of the one theory that is named at the end, with its own lapses
set to 0 (``named``) and as declared (``named_with_lapses``), and of the best theory in the pool, whose difference is
what choosing cost. Most of `RULES` err in 5% of choices as part of the rule, so that the right theory, whose lapses are
set to 0, is .0025 away; ``named_with_lapses`` is the fair measure there. Rules that depend on what came before are also
judged by how often people repeat their last choice. Clauses are those that the claim tells: not what changes nothing,
or what a composition says in any case.

``--search before`` takes from the grammar's search what it has learned since: it then knows no published forms, and
glances at nothing before it fits. The code is the same, so that both searches meet the same people's answers to the
first design; each search wants a file of its own, and ``--beside`` prints one file beside another.

AutoCog's figures for rules that no textbook names (0.003 to 0.21, 0.10 on average; arXiv 2606.26448) are an
orientation: its tasks and sample sizes differ.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.cells import complete, standard_error
from benchmarks.provenance import ROOT, provenance
from benchmarks.theories import (
    blind_rules,
    fifth_blind_rules,
    fourth_blind_rules,
    outside_rules,
    second_blind_rules,
    seventh_blind_rules,
    sixth_blind_rules,
    third_blind_rules,
)
from benchmarks.theories.rule import BINARY, CARDINAL, Rule
from lakatos.flows.run.evidence import form_of
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import parse_study
from lakatos.flows.start import run_study
from lakatos.theories.discovery.grammar_search import composition_search
from lakatos.theories.discovery.grammar_search.advocate import (
    AdvocateBrief,
    Evaluate,
    Glance,
    GrammarAdvocate,
    SearchProposal,
)
from lakatos.theories.discovery.grammar_search.prune import Same, Validate
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.findings.verdicts.record import CampaignConcluded

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "discovery.json"
SEEDS = {
    "multiattribute": ("take_the_best", "tallying"),
    "risky": ("expected_value", "cumulative_prospect_theory"),
    "intertemporal": ("exponential", "hyperbolic"),
    "learning": ("rescorla_wagner", "win_stay_lose_shift"),
    "offers": ("logit", "lexicographic"),
}
"""First rivals; the search may use all of the domain's mechanisms."""
SPACES = {
    "multiattribute": CARDINAL,
    "risky": {},
    "intertemporal": {},
    "learning": {"task": "reversal", "n_steps": 60},
    "offers": {},
}


RATINGS = 'a, b = trials["ratings"][:, 0], trials["ratings"][:, 1]\n'
SURE = "p = xp.where(lead > 0, 0.95, xp.where(lead < 0, 0.05, 0.5))\nreturn p[None]"
RULES = {
    "nearest the middle": Rule(
        "multiattribute",
        "people take the product whose ratings are nearest to the middle of the scale",
        RATINGS + "lead = xp.abs(a - 1.5).sum(axis=-1) - xp.abs(b - 1.5).sum(axis=-1)\n" + SURE,
    ),
    "even sum": Rule(
        "multiattribute",
        "people take a product whose ratings add up to an even number, if only one does",
        RATINGS
        + "lead = (b.sum(axis=-1) % 2 == 0) * 1.0 - (a.sum(axis=-1) % 2 == 0) * 1.0\n"
        + SURE,
        BINARY,
    ),
    "against the majority": Rule(
        "multiattribute",
        "people take the product that fewer experts favour",
        RATINGS + "lead = xp.sign(a - b).sum(axis=-1)\n" + SURE,
        BINARY,
    ),
    "third cue": Rule(
        "multiattribute",
        "people follow the third expert alone",
        RATINGS + "lead = b[:, 2] - a[:, 2]\n" + SURE,
    ),
    "veto": Rule(
        "multiattribute",
        "people reject a product that the best expert rates 0, and else add up the ratings",
        RATINGS + "veto = (a[:, 0] == 0) * 1.0 - (b[:, 0] == 0) * 1.0\n"
        "lead = xp.where(veto != 0, veto, b.sum(axis=-1) - a.sum(axis=-1))\n" + SURE,
    ),
    "one of two": Rule(
        "multiattribute",
        "people take a product that just one of the two best experts praises, if only one is such",
        RATINGS + "lead = (b[:, 0] != b[:, 1]) * 1.0 - (a[:, 0] != a[:, 1]) * 1.0\n" + SURE,
        BINARY,
    ),
    "other side when close": Rule(
        "multiattribute",
        "people add up the ratings, and when the sums are close change sides",
        RATINGS + "lead = b.sum(axis=-1) - a.sum(axis=-1) + 0.0 * last\n"
        "close = xp.abs(lead) < 2\n"
        "return xp.where(close, 0.5 - 0.4 * last, 0.5 + 0.45 * xp.sign(lead))",
        history=True,
    ),
    "stay": Rule(
        "multiattribute",
        "people mostly stay on the side of their last choice, whatever is shown",
        RATINGS + "lead = xp.sign(b[:, 0] - a[:, 0])\nreturn 0.5 + 0.35 * last + 0.1 * lead",
        BINARY,
        history=True,
    ),
    "safe unless much better": Rule(
        "risky",
        "people take the gamble with the better worst outcome unless the other pays five more on average",
        'x, q = trials["outcomes"], trials["probabilities"]\n'
        "mean = (x * q).sum(axis=-1)\ngain = mean[:, 1] - mean[:, 0]\n"
        "worst = x.min(axis=-1)\nsafer = worst[:, 1] - worst[:, 0]\n"
        "lead = xp.where(xp.abs(gain) > 5, gain, safer)\n" + SURE,
    ),
    "medium risk": Rule(
        "risky",
        "people take the gamble whose outcomes lie about ten apart",
        'x = trials["outcomes"]\nspread = x.max(axis=-1) - x.min(axis=-1)\n'
        "lead = xp.abs(spread[:, 0] - 10) - xp.abs(spread[:, 1] - 10)\n" + SURE,
    ),
    "daily gain": Rule(
        "intertemporal",
        "people wait if each day of waiting earns at least half a unit of money",
        'amounts, days = trials["amounts"], trials["delays_days"]\n'
        "gain, wait = amounts[:, 1] - amounts[:, 0], days[:, 1] - days[:, 0]\n"
        "lead = gain - 0.5 * wait\n" + SURE,
    ),
    "not beyond a month": Rule(
        "intertemporal",
        "people take the larger amount if it comes within thirty days, and else the sooner one",
        'amounts, days = trials["amounts"], trials["delays_days"]\n'
        "larger = xp.sign(amounts[:, 1] - amounts[:, 0])\nlater = xp.sign(days[:, 1] - days[:, 0])\n"
        "lead = xp.where(days.max(axis=-1) <= 30, larger, -later)\n" + SURE,
    ),
    "two losses": Rule(
        "learning",
        "people leave an option after two losses in a row on it",
        "",
        source="""def start(parameters, trials, xp):
    n = trials["available"].shape[-1]
    return {"last": xp.zeros((1, 1, n)), "losses": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    n = trials["available"].shape[-1]
    stay = state["last"] * 0.92 + (1 - state["last"]) * 0.08 / (n - 1)
    leave = state["last"] * 0.08 + (1 - state["last"]) * 0.92 / (n - 1)
    begun = state["last"].sum(axis=-1)[..., None] > 0
    p = xp.where(begun, xp.where(state["losses"][..., None] >= 2, leave, stay), 1 / n)
    return p + xp.zeros((1, len(trials["stage"]), 1))


def learn(parameters, trials, xp, state, response, feedback):
    same = (state["last"] * response).sum(axis=-1)
    losses = xp.where(feedback["reward"] > 0, 0.0, same * state["losses"] + 1)
    return {"last": response + 0.0 * state["last"], "losses": losses}
""",
    ),
    "recent best": Rule(
        "learning",
        "people go by the rewards of each option's last three picks, weighted alike",
        "",
        source="""def start(parameters, trials, xp):
    n = trials["available"].shape[-1]
    return {"paid": 0.5 + xp.zeros((1, 1, n, 3))}


def choose(parameters, trials, xp, state):
    strength = xp.exp(4.0 * state["paid"].mean(axis=-1))
    return strength / strength.sum(axis=-1)[..., None]


def learn(parameters, trials, xp, state, response, feedback):
    paid = state["paid"] + xp.zeros(response.shape + (3,))
    reward = xp.zeros(response.shape + (1,)) + feedback["reward"][..., None, None]
    moved = xp.concatenate([paid[..., 1:], reward], axis=-1)
    return {"paid": xp.where(response[..., None] > 0, moved, paid)}
""",
    ),
}
ALL = {
    **RULES,
    **outside_rules.RULES,
    **blind_rules.BLIND,
    **second_blind_rules.SECOND_BLIND,
    **third_blind_rules.THIRD_BLIND,
    **fourth_blind_rules.FOURTH_BLIND,
    **fifth_blind_rules.FIFTH_BLIND,
    **sixth_blind_rules.SIXTH_BLIND,
    **seventh_blind_rules.SEVENTH_BLIND,
}
SETS = {
    "unnamed": tuple(RULES),
    "development": outside_rules.DEVELOPMENT,
    "held_out": outside_rules.HELD_OUT,
    "blind": tuple(blind_rules.BLIND),
    "second blind": tuple(second_blind_rules.SECOND_BLIND),
    "third blind": tuple(third_blind_rules.THIRD_BLIND),
    "fourth blind": tuple(fourth_blind_rules.FOURTH_BLIND),
    "fifth blind": tuple(fifth_blind_rules.FIFTH_BLIND),
    "sixth blind": tuple(sixth_blind_rules.SIXTH_BLIND),
    "seventh blind": tuple(seventh_blind_rules.SEVENTH_BLIND),
}


def study(name: str, seed: int) -> dict[str, Any]:
    """The campaign for one rule: the demonstration's design, with everything to be found out."""
    rule = ALL[name]
    sequential = rule.domain == "learning"
    return {
        "name": "discovery",
        "question": "Which rule do they follow?",
        "domain": rule.domain,
        "seed": seed,
        "space": rule.space or SPACES[rule.domain],
        "theories": {
            "seeds": SEEDS[rule.domain],
            "candidates": 60 if sequential else 120,
            "draws": 256,
        },
        "design": {
            "trials": 48,
            "participants": 25,
            "candidates": 600,
            "refused": "cover",
            "random_share": 0.5,
        },
        "participants": {"source": "simulated", "program": rule.program},
        "stop": {"cycles": 4 if sequential else 5, "least_cycles": 4 if sequential else 5},
    }


class AdvocateBefore(GrammarAdvocate):
    """The grammar's search without published forms and glances, as it was before it climbed."""

    def revise(
        self,
        brief: AdvocateBrief,
        evaluate: Evaluate,
        rng: np.random.Generator,
        *,
        glance: Glance | None = None,
    ) -> SearchProposal:
        """The surrogate chooses to the end."""
        return super().revise(replace(brief, published=()), evaluate, rng)

    def pruned(
        self,
        proposal: SearchProposal,
        brief: AdvocateBrief,
        evaluate: Evaluate,
        validate: Validate,
        rng: np.random.Generator,
        *,
        same: Same | None = None,
        glance: Glance | None = None,
    ) -> SearchProposal:
        """Neighbours are drawn by the surrogate."""
        brief = replace(brief, published=())
        return super().pruned(proposal, brief, evaluate, validate, rng, same=same)


SEARCHES = {"now": GrammarAdvocate, "before": AdvocateBefore}


@contextmanager
def searching_by(advocate: type[GrammarAdvocate]) -> Iterator[None]:
    """Campaigns of this process search by ``advocate``."""
    usual = vars(composition_search)["GrammarAdvocate"]
    vars(composition_search)["GrammarAdvocate"] = advocate
    try:
        yield
    finally:
        vars(composition_search)["GrammarAdvocate"] = usual


def cell(name: str, seed: int, search: str) -> dict[str, Any]:
    """One campaign, and how close its leader and its pool came."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, searching_by(SEARCHES[search]):
        verdict = run_study(parse_study(study(name, seed), name), Path(folder) / "run", n_workers=1)
        state, trace = read_state(Path(folder) / "run")
        with trace:
            assert isinstance(verdict, CampaignConcluded)
            leader = with_fit(form_of(trace.artifacts, state, str(verdict.leader)), state.theories)
    assert state.campaign.truth is not None
    truth = state.campaign.truth.record
    return {
        "commit": provenance()["commit"],
        "rule": name,
        "set": next(label for label, names in SETS.items() if name in names),
        "domain": ALL[name].domain,
        "seed": seed,
        "leader": state.theories.checked[verdict.leader].record.name,
        "author": state.theories.checked[verdict.leader].record.author,
        "named": truth.corrected[verdict.leader],
        "named_with_lapses": truth.uncorrected[verdict.leader],
        "named_on_pool_sample": truth.pool[verdict.leader],
        "best_in_pool": min(truth.pool.values()),
        "seeds": min(truth.pool[name] for name in state.seeds),
        "repetition_true": truth.sequence.get("hidden"),
        "repetition_named": truth.sequence.get(verdict.leader),
        "n_trials": truth.n_trials,
        "holds": verdict.holds,
        "claim": leader.account().claim,
        "n_clauses": sum(not item.is_detail for item in leader.account().clauses),
        "n_parameters": len(leader.priors),
        "search": search,
        "seconds": round(time.perf_counter() - begun, 1),
    }


def table(cells: list[dict[str, Any]]) -> str:
    """A line for each rule, and means by domain."""
    lines = [
        "rule                        named      with lapses   best in pool   first rivals   repeats (true / named)"
    ]
    for item in cells:
        repeats = [
            f"{own['in all']:.2f}"
            for own in (item["repetition_true"], item["repetition_named"])
            if own
        ]
        errors = (
            item["named"],
            item.get("named_with_lapses", np.nan),
            item["best_in_pool"],
            item["seeds"],
        )
        columns = "     ".join(f"{error:9.5f}" for error in errors)
        lines.append(f"{item['rule']:26s} {columns}      {' / '.join(repeats)}")
    for key in ("domain", "set"):
        for value in dict.fromkeys(item[key] for item in cells):
            named = np.array([item["named"] for item in cells if item[key] == value])
            spread = standard_error(named)
            lines.append(f"{value}: named {named.mean():.5f} ± {spread:.5f} (n={len(named)})")
    return "\n".join(lines)


def paired(before: Sequence[dict[str, Any]], now: Sequence[dict[str, Any]]) -> str:
    """Differences of errors and sizes, rule by rule, with 95% intervals over campaigns by t."""
    others = {(item["rule"], item["seed"]): item for item in before}
    pairs = [(others[key], item) for item in now if (key := (item["rule"], item["seed"])) in others]
    lines = [f"{len(pairs)} pairs"]
    for what in ("named_with_lapses", "best_in_pool", "n_clauses", "n_parameters", "seconds"):
        gained = np.array([item[what] - other[what] for other, item in pairs])
        half = stats.t.ppf(0.975, len(pairs) - 1) * standard_error(gained)
        lines.append(
            f"{what}: {gained.mean():+.5f} ({gained.mean() - half:.5f} to {gained.mean() + half:.5f})"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, write every result as it comes."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument(
        "--rules", nargs="*", default=list(SETS), help="names of rules, or of sets of them"
    )
    options.add_argument("--out", type=Path, default=RESULT)
    options.add_argument("--search", choices=list(SEARCHES), default="now")
    options.add_argument("--beside", type=Path, help="of the same rules by another search")
    chosen = options.parse_args()
    names = [name for item in chosen.rules for name in SETS.get(item, (item,))]
    wanted = [(name, seed) for seed in range(1, chosen.seeds + 1) for name in names]
    places = {name: place for place, name in enumerate(ALL)}
    cells = complete(
        chosen.out,
        cell,
        wanted,
        ("rule", "seed"),
        chosen.workers,
        order=lambda item: (places[item["rule"]], item["seed"]),
        extra=(chosen.search,),
    )
    print(table(cells))
    if chosen.beside:
        print(paired(json.loads(chosen.beside.read_text())["cells"], cells))
