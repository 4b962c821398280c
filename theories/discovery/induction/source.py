"""Induced rules written as theories: source in the contract, with a claim in words and a declared population."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pprint import pformat
from textwrap import fill, indent
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from lakatos.theories.discovery.induction.additive import AdditiveRule
from lakatos.theories.discovery.induction.library import shortest_prelude
from lakatos.theories.discovery.induction.mixture import MixtureRule
from lakatos.theories.discovery.induction.phrase import by_rank
from lakatos.theories.discovery.induction.terms import ChoiceTerm, StateMemory, TermTable
from lakatos.theories.discovery.induction.tree import (
    ConstantLeaf,
    LeadLeaf,
    Node,
    SplitNode,
    log_likelihood,
)
from lakatos.theories.language.account import Wording
from lakatos.theories.language.option_score import OptionScore, TermVocabulary
from lakatos.theories.language.parsing import parse

Array = NDArray[np.float64]
LAPSE = {
    "low": 0.0,
    "high": 1.0,
    "unit": "probability",
    "meaning": "share of choices made at random",
}
FOLLOW = '''
def follow(direction, consistency, otherwise, xp):
    """Choose the side of ``direction`` with one probability, and go on where there is none."""
    followed = xp.where(direction > 0, consistency, 1 - consistency)
    return xp.where(direction == 0, otherwise, followed)
'''
SURE = 3.0
"""Nats by which branches may differ in consistency and still be taken for the same lapses."""


@dataclass(frozen=True)
class ParameterSpread:
    """Distribution of one number over people: a truncated normal on its (or its logarithm's) scale."""

    center: float
    spread: float


@dataclass
class _TheoryWriter:
    """Collects what the text of a theory needs."""

    vocabulary: TermVocabulary
    first_array: str
    scores: list[OptionScore] = field(default_factory=list)
    memory: dict[str, tuple[StateMemory, tuple[OptionScore, ...]]] = field(default_factory=dict)
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)
    n_choices: int = 0

    def variable(self, score: OptionScore) -> str:
        if score not in self.scores:
            self.scores.append(score)
        return f"score_{self.scores.index(score) + 1}"

    def code(self, term: ChoiceTerm) -> str:
        """Code of a term, whose scores and memory are noted."""
        names = [self.variable(score) for score in term.scores]
        self._remember(term.memory, term.scores, names)
        return term.code.format(*names)

    def _remember(
        self, memory: Sequence[StateMemory], scores: tuple[OptionScore, ...], names: Sequence[str]
    ) -> None:
        for entry in memory:
            name = entry.name.format(*names)
            self.memory[name] = (
                StateMemory(name, entry.renewed.format(*names), entry.start),
                scores,
            )

    def declare(self, name: str, value: float, error: float, **how: Any) -> str:
        """A parameter about which people hardly differ."""
        self.parameters[name] = normal_prior(value, error, **how)
        return f'parameters["{name}"]'

    def choice(self, expression: str) -> str:
        self.n_choices += 1
        self.statements.append(f"choice_{self.n_choices} = {expression}")
        return f"choice_{self.n_choices}"

    def text(self, name: str, claim: str, result: str, clauses: Sequence[Wording] = ()) -> str:
        """The whole module; clauses say what the claim becomes should other numbers be learned."""
        learns = bool(self.memory)
        wide = any(memory.start != "nothing" for memory, _ in self.memory.values())
        choose = [
            *self._prelude(self.scores, always=wide),
            *self.statements,
            f"p = {result}",
            'lapse = parameters["lapse"]',
            "return (1 - lapse) * p + 0.5 * lapse",
        ]
        arguments = "parameters, trials, xp, state" if learns else "parameters, trials, xp"
        functions = [function_text("choose", arguments, choose)]
        if learns:
            functions = [self._start(wide), *functions, self._learn(wide)]
        helpers = (*self.vocabulary.helpers, FOLLOW)
        return theory_text(name, claim, self.parameters, clauses, helpers, functions)

    def _start(self, wide: bool) -> str:
        """The function that says what is remembered before the first answer."""
        lines = self.vocabulary.prelude.splitlines() if wide else []
        lines += [f'nothing = xp.zeros((1, trials["{self.first_array}"].shape[0]))', "return {"]
        lines += [f'    "{key}": {memory.start},' for key, (memory, _) in self.memory.items()]
        return function_text("start", "parameters, trials, xp", [*lines, "}"])

    def _learn(self, wide: bool) -> str:
        """The function that renews what is remembered after a response."""
        needed = {score for _, scores in self.memory.values() for score in scores}
        read = [score for score in self.scores if score in needed]
        lines = [*self._prelude(read, always=wide), "return {"]
        lines += [f'    "{key}": {memory.renewed},' for key, (memory, _) in self.memory.items()]
        arguments = "parameters, trials, xp, state, response, feedback"
        return function_text("learn", arguments, [*lines, "}"])

    def _prelude(self, scores: Sequence[OptionScore], *, always: bool = False) -> list[str]:
        """Statements that set ``scores``, and the variables that all of them are written in."""
        if not scores and not always:
            return []
        prelude = self.vocabulary.prelude
        if not self.memory:
            prelude = shortest_prelude(self.vocabulary, [score.code for score in scores])
        used = "\n".join(score.code for score in scores)
        start = prelude.splitlines() if self.memory else needed_lines(prelude, used)
        return [*start, *(f"{self.variable(score)} = {score.code}" for score in scores)]


def needed_lines(prelude: str, used: str) -> list[str]:
    """Statements of a prelude, one a line, that set what is used, and those that these need in turn.

    Args:
        prelude: Assignments to variables.
        used: Expressions in these variables, one a line.
    """
    needed, kept = _names_read(used), []
    for line in reversed(prelude.splitlines()):
        (statement,) = parse(line).body
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = {
            node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
        }
        if not targets or names & needed:
            needed = (needed - names) | _names_read(line)
            kept.append(line)
    return kept[::-1]


def _names_read(code: str) -> set[str]:
    nodes = ast.walk(parse(code))
    return {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def function_text(name: str, arguments: str, lines: Sequence[str]) -> str:
    """A function of a theory with these statements."""
    return f"def {name}({arguments}):\n" + indent("\n".join(lines), "    ") + "\n"


def theory_text(
    title: str,
    claim: str,
    parameters: Mapping[str, Any],
    clauses: Sequence[Wording],
    helpers: Sequence[str],
    functions: Sequence[str],
) -> str:
    """The module of a theory: its claim, declarations, those of the helpers that are called, and its functions."""
    claimed = fill(f"{title}: {claim}", width=110, break_on_hyphens=False, break_long_words=False)
    declared = f"PARAMETERS = {pformat(parameters, width=110, sort_dicts=False)}\n"
    literal = [item.to_literal() for item in clauses]
    if literal:
        declared += f"CLAUSES = {pformat(literal, width=110, sort_dicts=False)}\n"
    parts = list(functions)
    for helper in reversed(helpers):
        called = helper.split("def ")[1].split("(")[0]
        if any(re.search(rf"\b{called}\(", text) for text in parts):
            parts.insert(0, helper.strip() + "\n")
    return "\n\n".join([f'"""{claimed}\n"""\n\n{declared}', *parts])


Reason = tuple[ChoiceTerm, ChoiceTerm | None, float, float]
"""A term and its gate, and the weight of the term with its standard error."""


@dataclass
class WrittenReasons:
    """The reasons of a sum as code, words and clauses."""

    parts: list[str]
    words: list[str]
    clauses: list[Wording]

    def lines(self, name: str = "evidence") -> list[str]:
        """Statements that add them up."""
        first, *others = self.parts
        return [f"{name} = {first}", *(f"{name} = {name} + {part}" for part in others)]


def write_reasons(
    reasons: Iterable[Reason],
    code: Callable[[ChoiceTerm], str],
    parameters: dict[str, Any],
    *,
    axis: str = "[..., None]",
    keeps_sign: bool = False,
) -> WrittenReasons:
    """Write the reasons of a sum, and declare their weights among the ``parameters``.

    Args:
        reasons: Terms with their gates, weights and errors.
        code: Function that returns the code of a term.
        parameters: Declarations of the theory so far.
        axis: Index that gives weights and gates an axis of options.
        keeps_sign: Whether no clause states the other side of a weight.
    """
    found = WrittenReasons([], [], [])
    number = sum(name.startswith("weight_") for name in parameters)
    for lead, gate, weight, error in reasons:
        number += 1
        name = f"weight_{number}"
        meaning = f"log odds for each unit of the reason to: {lead.words}"
        part = f'parameters["{name}"]{axis} * ({code(lead)})'
        if gate is not None:
            part += f" * ({code(gate)}){axis}"
        parameters[name] = weight_prior(weight, error, meaning, keeps_sign=keeps_sign)
        found.parts.append(part)
        found.words.append(reason_words(weight, lead, gate))
        found.clauses.append(weighed_clause(name, weight, lead, gate))
    return found


def weighed_clause(
    parameter: str, weight: float, lead: ChoiceTerm, gate: ChoiceTerm | None
) -> Wording:
    """State one weight of a sum: towards what its lead does, or towards the opposite.

    It is worth its name at about the weight that was found, so that a later fit may say "hardly" of it; a smaller
    weight that is followed as much more strictly is worth the same.
    """
    return Wording(
        f"{{much}}tend to {reason_words(1, lead, gate)}",
        parameter=parameter,
        clause_short="to do the opposite",
        opposite_clause=f"{{much}}tend to {reason_words(-1, lead, gate)}",
        opposite_short="to do the opposite",
        unit=max(rounded(abs(weight)), 1e-3),
        multiplied_by="sensitivity",
    )


def reason_words(weight: float, lead: ChoiceTerm, gate: ChoiceTerm | None) -> str:
    """Describe what one weight of a sum makes people do."""
    words = lead.words if weight > 0 else lead.opposite
    comma = "," if "," in words else ""
    return words if gate is None else f"{words}{comma} if {gate.words}"


def weighing_title(nouns: Iterable[str]) -> str:
    """A name of at most six words: what the first reasons of a sum are about, without their numbers."""
    plain = [re.sub(r" \(.*?\)", "", re.sub("^an? ", "", noun)) for noun in nouns]
    first, *others = dict.fromkeys(plain) or [""]
    titles = [f"Weighing {first} and {other}" for other in others] + [f"Weighing {first}"]
    return next((title for title in titles if first and len(title.split()) <= 6), "Weighed reasons")


ADDED = "they add up these tendencies"


def sum_claim(reasons: Sequence[str]) -> str:
    """A sum of reasons, in words."""
    end = f"; {ADDED}" if len(reasons) > 1 else ""
    return f"people tend to {'; to '.join(reasons)}{end}."


def sum_clauses(weighed: Sequence[Wording]) -> list[Wording]:
    """A sum of reasons, as clauses."""
    added = Wording(ADDED.removeprefix("they "), sentence=2, taken_for_granted=True)
    return [*weighed, added] if len(weighed) > 1 else list(weighed)


def rounded(value: float) -> float:
    """Round a number to four significant digits."""
    return float(f"{value:.4g}")


def normal_prior(value: float, error: float, **how: Any) -> dict[str, Any]:
    """Prior of a parameter about which people hardly differ, as a source declares it."""
    return {"prior": "normal", "mean": rounded(value), "sd": max(rounded(error), 1e-4), **how}


def weight_prior(
    weight: float, error: float, meaning: str, *, keeps_sign: bool = False
) -> dict[str, Any]:
    """Prior of a weight, as a source declares it; one that ``keeps_sign`` has no clause that states the other side."""
    limit = rounded(4 * abs(weight) + 6 * error)
    low, high = -limit, limit
    if keeps_sign:
        low, high = (0.0, limit) if weight > 0 else (-limit, 0.0)
    sd = min(error, 0.1 * abs(weight))
    return normal_prior(weight, sd, low=low, high=high, unit="log odds", meaning=meaning)


def disposition_prior(share: float) -> dict[str, Any]:
    """Prior of the parameter that divides participants into two kinds, as a source declares it."""
    return {
        "prior": "normal",
        "mean": rounded(float(ndtri(share))),
        "sd": 1.0,
        "low": -4.0,
        "high": 4.0,
        "unit": "standard deviations",
        "meaning": "people above 0 are of the first kind",
    }


KINDS_TITLE = "Two kinds of people"


def kinds_in_words(
    kinds: Iterable[str], share: float, *further: Wording
) -> tuple[str, list[Wording]]:
    """Claim and clauses of two kinds of participants.

    Args:
        kinds: Description of what each kind does.
        share: Share of the first kind.
        further: Clauses that hold for both.
    """
    one, two = kinds
    claim = f"some people (about {100 * share:.0f}%) {one}, and the others {two}"
    clause = Wording(
        f"{{who}} {one}",
        parameter="disposition",
        opposite_short=two,
        label="two kinds of people",
        opposite_label="one rule for all people",
    )
    ends = "".join(f"; they {item.clause}" for item in further)
    return f"{claim}{ends}.", [clause, *further]


def tendencies(reasons: Sequence[str]) -> str:
    """Reasons that participants add up, as one predicate."""
    comma = "," if any("," in item for item in reasons) else ""
    return f"tend to {f'{comma} and to '.join(reasons)}"


def sensitivity_prior(spread: ParameterSpread) -> dict[str, Any]:
    """Prior of the factor on a weighed sum, as a source declares it."""
    return {
        "prior": "log_normal",
        "median": rounded(float(np.exp(spread.center))),
        "log_sd": max(rounded(spread.spread), 0.01),
        "low": 0.01,
        "high": 100.0,
        "unit": "factor",
        "meaning": "how strictly a person follows the weighted sum",
    }


def lapse_prior(spread: ParameterSpread) -> dict[str, Any]:
    """Prior of the share of lapses, as a source declares it."""
    center = min(max(rounded(spread.center), 0.0), 1.0)
    return {"prior": "normal", "mean": center, "sd": max(rounded(spread.spread), 1e-3), **LAPSE}


# Rule lists


@dataclass(frozen=True)
class TreeBranch:
    """Responses where a branch decides."""

    agree: float
    disagree: float


def branches(node: Node, leads: TermTable, gates: TermTable, counts: Array) -> list[TreeBranch]:
    """Responses with and against what every leaf says, in the order of writing."""

    def walk(node: Node, inside: NDArray[np.bool_]) -> list[TreeBranch]:
        if isinstance(node, ConstantLeaf):
            if node.p == 0.5:
                return []
            a, b = counts[inside].sum(axis=0)
            return [TreeBranch(max(a, b), min(a, b))]
        if isinstance(node, SplitNode):
            open_ = gates.values[node.gate] > 0
            return walk(node.yes, inside & open_) + walk(node.no, inside & ~open_)
        sign = leads.values[node.lead]
        agree = counts[inside & (sign > 0), 1].sum() + counts[inside & (sign < 0), 0].sum()
        disagree = counts[inside & (sign > 0), 0].sum() + counts[inside & (sign < 0), 1].sum()
        return [
            TreeBranch(max(agree, disagree), min(agree, disagree)),
            *walk(node.tie, inside & (sign == 0)),
        ]

    return walk(node, np.ones(len(counts), dtype=bool))


def shared_error(found: Sequence[TreeBranch]) -> tuple[float, float]:
    """Error rate of the surest branches taken together, and the largest rate of a branch among them."""
    ordered = sorted(found, key=lambda item: item.disagree / max(item.agree + item.disagree, 1))
    agree = disagree = apart = largest = 0.0
    for item in ordered:
        together = float(
            log_likelihood(np.array(agree + item.agree), np.array(disagree + item.disagree))
        )
        alone = apart + float(log_likelihood(np.array(item.agree), np.array(item.disagree)))
        if agree + disagree and alone - together > SURE:
            break
        agree, disagree, apart = agree + item.agree, disagree + item.disagree, alone
        largest = item.disagree / max(item.agree + item.disagree, 1)
    return disagree / max(agree + disagree, 1), largest


def sharpened(node: Node, found: Sequence[TreeBranch]) -> tuple[Node, float]:
    """The tree without the lapses that all its branches share, and those lapses."""
    error, largest = shared_error(found)
    rates = iter(item.disagree / max(item.agree + item.disagree, 1) for item in found)

    def clean(p: float) -> float:
        rate = next(rates)
        if rate <= largest + 1e-12:
            return round(p)
        return float(np.clip((p - error) / (1 - 2 * error), 0.0, 1.0))

    def walk(node: Node) -> Node:
        if isinstance(node, ConstantLeaf):
            return node if node.p == 0.5 else ConstantLeaf(clean(node.p))
        if isinstance(node, SplitNode):
            yes = walk(node.yes)
            return SplitNode(node.gate, yes, walk(node.no))
        consistency = clean(node.consistency)
        return LeadLeaf(node.lead, consistency, walk(node.tie))

    return walk(node), 2 * error


def write_tree(
    node: Node,
    leads: TermTable,
    gates: TermTable,
    vocabulary: TermVocabulary,
    first_array: str,
    lapse: ParameterSpread,
) -> tuple[str, str]:
    """Source and claim of a rule list; ``node`` as `sharpened` returned it."""
    writer = _TheoryWriter(vocabulary, first_array)
    writer.parameters["lapse"] = lapse_prior(lapse)

    def probability(p: float, meaning: str) -> str:
        if p in (0.0, 0.5, 1.0):
            return f"{p:.1f}"
        name = f"consistency_{len(writer.parameters)}"
        return writer.declare(name, p, 0.02, low=0.0, high=1.0, unit="probability", meaning=meaning)

    def emit(node: Node) -> str:
        if isinstance(node, ConstantLeaf):
            return probability(node.p, "how often B is chosen in this case")
        if isinstance(node, SplitNode):
            gate = writer.code(gates.items[node.gate])
            yes, no = emit(node.yes), emit(node.no)
            return writer.choice(f"xp.where({gate}, {yes}, {no})")
        direction = writer.code(leads.items[node.lead])
        consistency = probability(
            node.consistency, f"how often people {leads.items[node.lead].words}"
        )
        return writer.choice(f"follow({direction}, {consistency}, {emit(node.tie)}, xp)")

    result = emit(node)
    texts = rule_words(node, leads, gates)
    claim = rule_claim(texts)
    return writer.text("Rule list", claim, result, rule_clauses(texts)), claim


def rule_words(
    node: Node, leads: TermTable, gates: TermTable, *, guess: str = "guess", named: str = ""
) -> list[str]:
    """A rule list as clauses: its rules in the order in which they are tried, and what is done at ties.

    Args:
        node: The rule list.
        leads, gates: Its terms.
        guess: What people do where no rule decides.
        named: What stands before the letter of an option.
    """

    def action(node: Node) -> str:
        if isinstance(node, ConstantLeaf):
            option = "B" if node.p > 0.5 else "A"
            return guess if node.p == 0.5 else f"choose {named}{option}{often(node.p)}"
        if isinstance(node, SplitNode):
            gate = gates.items[node.gate].words
            return f"{action(node.yes)} if {gate}, and otherwise {action(node.no)}"
        lead = leads.items[node.lead]
        words = by_rank(lead.words if node.consistency > 0.5 else lead.opposite)
        tie = "" if is_guess(node.tie) else f", or at ties {action(node.tie)}"
        return f"{words}{often(node.consistency)}{tie}"

    def rules(node: Node, conditions: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
        if isinstance(node, SplitNode):
            yield from rules(node.yes, (*conditions, gates.items[node.gate].words))
            yield from rules(node.no, conditions)
        else:
            yield " and ".join(conditions), action(node)

    listed = list(rules(node))
    # The last rules need no condition where they do the same.
    while len(listed) > 1 and listed[-2][1] == listed[-1][1]:
        del listed[-2]
    *first, (_, words) = listed
    if len(first) == 1:
        comma = "," if re.search(", | and ", first[0][1]) else ""
        words = f"{first[0][1]}{comma} if {first[0][0]}, and otherwise {words}"
    elif first:
        numbered = [f"({place}) if {item[0]}, {item[1]}" for place, item in enumerate(first, 1)]
        words = "; ".join([*numbered, f"({len(listed)}) otherwise, {words}"])
        words = f"follow the first of these rules that applies: {words}"
    has_ties = guesses_at_ties(node) and not words.endswith(f"otherwise {guess}")
    return [words, *([f"{guess} at ties"] if has_ties else [])]


def often(p: float) -> str:
    """State how often the more frequent of two things is done, and the other one; empty where it is always done."""
    surely = max(p, 1 - p)
    return "" if surely == 1 else f" in {100 * surely:.0f}% of cases and the other one in the rest"


def is_guess(node: Node) -> bool:
    """Whether both options are equally likely there."""
    return isinstance(node, ConstantLeaf) and node.p == 0.5


def guesses_at_ties(node: Node) -> bool:
    """Whether people guess where a lead does not decide."""
    if isinstance(node, SplitNode):
        return guesses_at_ties(node.yes) or guesses_at_ties(node.no)
    return isinstance(node, LeadLeaf) and (is_guess(node.tie) or guesses_at_ties(node.tie))


def rule_claim(texts: Sequence[str]) -> str:
    """A rule list in words."""
    return f"people {'; they '.join(texts)}; sometimes they choose at random."


def rule_clauses(texts: Sequence[str]) -> list[Wording]:
    """A rule list as clauses."""
    return [
        *map(Wording, texts),
        Wording("choose at random {lapse~}", sentence=2),
    ]


# Sums


def write_sum(
    fitted: AdditiveRule,
    leads: TermTable,
    gates: TermTable,
    vocabulary: TermVocabulary,
    first_array: str,
    lapse: ParameterSpread,
    sensitivity: ParameterSpread,
) -> tuple[str, str]:
    """Source and claim of an additive rule."""
    writer = _TheoryWriter(vocabulary, first_array)
    writer.parameters["lapse"] = lapse_prior(lapse)
    writer.parameters["sensitivity"] = sensitivity_prior(sensitivity)
    reasons = reasons_of(fitted, leads, gates)
    found = write_reasons(reasons, writer.code, writer.parameters, axis="")
    writer.statements += found.lines()
    result = '1 / (1 + xp.exp(-xp.clip(parameters["sensitivity"] * evidence, -500.0, 500.0)))'
    claim = sum_claim(found.words)
    nouns = [score.words for term in fitted.terms for score in leads.items[term.lead].scores]
    return writer.text(weighing_title(nouns), claim, result, sum_clauses(found.clauses)), claim


def reasons_of(fitted: AdditiveRule, leads: TermTable, gates: TermTable) -> Iterator[Reason]:
    """Reasons of a sum between two options."""
    for term, weight, error in zip(fitted.terms, fitted.weights, fitted.errors, strict=True):
        gate = gates.items[term.gate] if term.gate >= 0 else None
        yield leads.items[term.lead], gate, weight, error


# Two kinds of people


def write_mixture(
    found: MixtureRule,
    leads: TermTable,
    vocabulary: TermVocabulary,
    first_array: str,
    lapse: ParameterSpread,
) -> tuple[str, str]:
    """Source and claim of a mixture of two kinds of people."""
    writer = _TheoryWriter(vocabulary, first_array)
    writer.parameters["lapse"] = lapse_prior(lapse)
    writer.parameters["disposition"] = disposition_prior(found.share)
    names, words = [], []
    for kind in found.kinds:
        term = leads.items[kind.lead]
        consistency = "1.0" if kind.sign > 0 else "0.0"
        names.append(writer.choice(f"follow({writer.code(term)}, {consistency}, 0.5, xp)"))
        words.append(by_rank(term.words if kind.sign > 0 else term.opposite))
    result = f'xp.where(parameters["disposition"] > 0, {names[0]}, {names[1]})'
    guess = Wording("guess at ties", sentence=2)
    claim, clauses = kinds_in_words(words, found.share, guess)
    return writer.text(KINDS_TITLE, claim, result, clauses), claim
