"""A grammar of theories: published mechanisms that fill the slots of a domain's skeleton.

A composition names the mechanisms in each slot. `write` turns it into source with a claim in words; `edits` lists the
compositions one change away. The advocate searches this space; a family file declares it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import takewhile
from pprint import pformat
from textwrap import dedent, fill, indent
from typing import Any

import numpy as np

from lakatos.experiments.adoption.names import ORDER
from lakatos.experiments.task import Stimuli
from lakatos.theories.errors import GrammarError
from lakatos.theories.language.account import Wording, account_of, general_clause, is_named
from lakatos.theories.language.parsing import parse
from lakatos.theories.language.prepared_writing import write_prepared
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import Theory, TheoryProgram

DECLARATIONS = frozenset(("PARAMETERS", "COMPOSITION", "CLAUSES", "POOLED", "PREDICTIONS"))
"""Names that a source written by a grammar sets before its functions."""
LITERAL = (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)
"""Nodes of which the values of these names are made."""


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """One published idea of how people choose: its code for one slot of the skeleton, its parameters and its words."""

    slot: str
    name: str
    clause: str = ""
    """General claim, continuing "people ..."; left empty where ``wording`` states as much."""
    code: str = ""
    """Statements that set the slot's variables; earlier slots' variables and ``parameters`` can be used."""
    start: str = ""
    """Statements that set ``state["..."]`` before the first trial; ``trials`` can be used."""
    learn: str = ""
    """Statements that set ``state["..."]`` after a trial, from ``response``, ``feedback``, ``trials`` and the state."""
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Declared priors, in the form of ``PARAMETERS``."""
    wording: Wording | tuple[Wording, ...] = ()
    """Claim once its parameters are estimated; ``clause`` whatever they are, where this is empty."""
    repairs: tuple[str, ...] = ()
    """Stimulus features whose mispredictions this mechanism could repair."""
    predictions: tuple[Mapping[str, Any], ...] = ()
    """Predictions of a composition with it unless another of its mechanisms breaks them; form of ``PREDICTIONS``."""
    breaks: tuple[str, ...] = ()
    """Predictions of others that it destroys: what is varied ("rating"), one property in that ("ignores rating"), or a
    property of single trials ("deterministic")."""
    rests_on: tuple[str, ...] = ()
    """Mechanisms, each ``slot:mechanism``, of which a composition with this one must have one; otherwise its claim
    would describe what is absent, such as reasons that are drawn at random where nothing weighs any."""
    needs: tuple[str, ...] = ()
    """Inputs without which it has nothing to work on, such as "sides": where an option stood. What remembers earlier
    trials needs their order besides; see `inputs`."""
    is_null: bool = False
    """Whether it says nothing about how people choose: errors that do not depend on the evidence, say. Of two theories
    that predict the same, the one with more of these is preferred."""
    source: str = ""
    """Publication of the idea."""
    beside: tuple[tuple[str, ...], str] = ((), "")
    """Slots or ``slot:mechanism``, and the first clause where a composition has one of these; empty: none is stated."""
    replaces: tuple[str, ...] = ()
    """Slots or ``slot:mechanism`` of which nothing is stated beside it: it leaves them without effect, or contradicts
    them."""

    @property
    def inputs(self) -> frozenset[str]:
        """All inputs that it needs."""
        return frozenset((*self.needs, *((ORDER,) if self.learn else ())))

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """Clauses by which it is stated in the claim of a theory."""
        if isinstance(self.wording, Wording):
            return (self.wording,)
        return self.wording or (Wording(self.clause),)

    @cached_property
    def claim(self) -> str:
        """Its general claim, continuing "people ..."."""
        priors = {name: parse_prior(name, prior) for name, prior in self.parameters.items()}
        return self.clause or general_clause(self.wordings, priors)


@dataclass(frozen=True)
class SkeletonSlot:
    """A place in the skeleton."""

    name: str
    least: int = 1
    most: int = 1
    """Most mechanisms that it takes; several are written in the grammar's order."""
    sentence: int = 1
    """Sentence of the claim in which its mechanisms are stated."""


@dataclass(frozen=True)
class Composition:
    """Mechanism names per slot, and priors that replace the mechanisms' own."""

    slots: Mapping[str, tuple[str, ...]]
    priors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, slots: Mapping[str, str | tuple[str, ...]]) -> Composition:
        """Mechanisms by slot; a slot that has one is given by its name alone."""
        return cls(
            {slot: (names,) if isinstance(names, str) else names for slot, names in slots.items()}
        )

    @cached_property
    def key(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Identity of the structure, whatever the priors and the order of names."""
        return tuple(
            sorted((slot, tuple(sorted(names))) for slot, names in self.slots.items() if names)
        )

    @property
    def size(self) -> int:
        """Number of mechanisms in the composition."""
        return sum(len(names) for names in self.slots.values())

    def to_literal(self) -> dict[str, list[str]]:
        """The composition as a source declares it."""
        return {slot: list(names) for slot, names in self.slots.items() if names}


@dataclass(frozen=True)
class QuickerWriting:
    """The mechanisms of a grammar, written to give the same answers to some trials with less work."""

    answers: Callable[[Stimuli], bool]
    """Whether the answers to these trials are the same."""
    mechanisms: tuple[tuple[Mechanism, Mechanism], ...]
    """Each mechanism of the grammar, and as it is written here."""
    before: str
    helpers: str
    before_learn: str
    walks: bool = True
    """Whether they are for people who are walked through trials one by one, or for those who answer all at once."""

    def of(self, grammar: Grammar, used: Sequence[Mechanism]) -> Grammar | None:
        """A grammar with the quicker texts; None if one of the used mechanisms is not known here."""
        if self.texts(used) is None:
            return None
        return replace(
            grammar,
            mechanisms=tuple(quick for _, quick in self.mechanisms),
            before=self.before,
            helpers=self.helpers,
            before_learn=self.before_learn,
            quicker=None,
        )

    def texts(self, used: Sequence[Mechanism]) -> list[Mechanism] | None:
        """The used mechanisms as they are written here; None if one of them is not known."""
        found = [self._known.get((item.slot, item.name)) for item in used]
        pairs = zip(used, found, strict=True)
        if any(pair is None or pair[0] != item for item, pair in pairs):
            return None
        return [pair[1] for pair in found if pair is not None]

    @cached_property
    def _known(self) -> dict[tuple[str, str], tuple[Mechanism, Mechanism]]:
        return {(plain.slot, plain.name): (plain, quick) for plain, quick in self.mechanisms}


@dataclass(frozen=True)
class Grammar:
    """A domain's skeleton and its mechanisms."""

    domain: str
    slots: tuple[SkeletonSlot, ...]
    mechanisms: tuple[Mechanism, ...]
    before: str
    """Statements that unpack ``trials`` before the first slot."""
    after: str
    """Statements that end in ``return`` the probabilities."""
    helpers: str = ""
    """Module-level code placed before ``choose``."""
    before_learn: str = ""
    """Statements that unpack ``trials``, ``response`` and ``feedback`` before what mechanisms learn."""
    heads: tuple[tuple[tuple[str, ...], str], ...] = ()
    """Names of forms: the first of which a composition has all ``slot`` or ``slot:mechanism``."""
    silence: str = ""
    """Claim where only the slots that must be filled are; empty where these alone give reasons to choose."""
    predictions: tuple[Mapping[str, Any], ...] = ()
    """Predictions of every composition that has no mechanism that breaks them, in the form of ``PREDICTIONS``."""
    quicker: QuickerWriting | None = None
    """Way to evaluate compositions on trials for which less has to be computed; see `write_for`."""

    def mechanism(self, slot: str, name: str) -> Mechanism:
        """Look one up; raises `GrammarError` naming what there is."""
        place = self._places.get((slot, name))
        if place is not None:
            return self.mechanisms[place]
        known = ", ".join(item.name for item in self.mechanisms if item.slot == slot)
        raise GrammarError(
            f"the {self.domain} grammar has no mechanism {name!r} in slot {slot!r}; it has: {known}."
        )

    def without(self, inputs: Collection[str]) -> Grammar:
        """The grammar without mechanisms that need one of some inputs."""
        kept = tuple(item for item in self.mechanisms if not item.inputs & set(inputs))
        return self if len(kept) == len(self.mechanisms) else replace(self, mechanisms=kept)

    def has(self, composition: Composition) -> bool:
        """Whether all mechanisms of a composition are the grammar's."""
        return all(
            (slot, name) in self._places
            for slot, names in composition.slots.items()
            for name in names
        )

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """Mechanisms of each slot, in the grammar's order."""
        return {
            slot.name: tuple(item.name for item in self.mechanisms if item.slot == slot.name)
            for slot in self.slots
        }

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        return {(item.slot, item.name): place for place, item in enumerate(self.mechanisms)}

    def used(self, composition: Composition) -> list[Mechanism]:
        """The composition's mechanisms in the order in which they are written."""
        unknown = set(composition.slots) - {slot.name for slot in self.slots}
        if unknown:
            raise GrammarError(
                f"the {self.domain} grammar has no slot {', '.join(sorted(unknown))}."
            )
        found = self._used.get(composition.key)
        if found is None:
            found = self._used[composition.key] = self._in_order(composition)
        return list(found)

    def _in_order(self, composition: Composition) -> list[Mechanism]:
        """The mechanisms of known slots, as `used` gives them."""
        ordered = []
        for slot in self.slots:
            names = composition.slots.get(slot.name, ())
            if not slot.least <= len(names) <= slot.most or len(set(names)) != len(names):
                raise GrammarError(
                    f"slot {slot.name!r} takes {slot.least} to {slot.most} different mechanisms, not {list(names)}."
                )
            chosen = [self.mechanism(slot.name, name) for name in names]
            ordered += sorted(chosen, key=lambda item: self._places[item.slot, item.name])
        return ordered

    @cached_property
    def _used(self) -> dict[object, list[Mechanism]]:
        """The mechanisms of compositions that were asked for, by the composition's key."""
        return {}

    def acting(self, composition: Composition) -> list[Mechanism]:
        """The composition's mechanisms without those that set only what no later statement reads.

        One without code keeps a default; it acts if a later statement reads what others of its slot set.
        """
        needed, found = _read_in(self.after), []
        for item in reversed(self.used(composition)):
            written, surely = _written_in(item.code)
            decided = written or self._set_by_slot.get(item.slot, frozenset())
            if not decided or item.learn or decided & needed:
                needed = (needed - surely) | _read_in(item.code)
                found.append(item)
        return found[::-1]

    @cached_property
    def _set_by_slot(self) -> dict[str, frozenset[str]]:
        """Names that the mechanisms of each slot set before a choice."""
        return {
            slot.name: frozenset().union(
                *(_written_in(item.code)[0] for item in self.mechanisms if item.slot == slot.name)
            )
            for slot in self.slots
        }

    def parameters(self, composition: Composition) -> dict[str, dict[str, Any]]:
        """Declared priors, with the composition's replacements."""
        own = {
            name: dict(prior)
            for item in self.used(composition)
            for name, prior in item.parameters.items()
        }
        return own | {
            name: dict(prior) for name, prior in composition.priors.items() if name in own
        }

    def predictions_of(self, composition: Composition) -> list[dict[str, Any]]:
        """Collect what the skeleton and the mechanisms predict and no (other) mechanism of the composition breaks."""
        used = self.used(composition)
        stated: list[tuple[Mapping[str, Any], Mechanism | None]] = [
            (item, None) for item in self.predictions
        ]
        stated += [(prediction, item) for item in used for prediction in item.predictions]
        found: list[dict[str, Any]] = []
        for prediction, owner in stated:
            broken = {word for item in used if item is not owner for word in item.breaks}
            kind, varied = prediction["property"], prediction.get("in", "")
            if dict(prediction) not in found and not broken & {varied, f"{kind} {varied}".strip()}:
                found.append(dict(prediction))
        return found

    def head(self, composition: Composition) -> str:
        """Short name of a form from the grammar's table; its mechanisms where there is no table."""
        used = self.acting(composition)
        there = {item.slot for item in used} | {f"{item.slot}:{item.name}" for item in used}
        names = (name for needed, name in self.heads if there.issuperset(needed))
        return next(names, " + ".join(item.name for item in used))

    def clauses(self, composition: Composition, name: str = "") -> list[Wording]:
        """Return the clauses of the composition, mechanism by mechanism.

        Args:
            composition: Composition whose mechanisms that no later one reads are not stated.
            name: Name of a published theory, which needs only the labels that it contains itself.
        """
        parameters, used = self.parameters(composition), self.acting(composition)
        must = {slot.name for slot in self.slots if slot.least}
        sentences = {slot.name: slot.sentence for slot in self.slots}
        if self.silence and all(item.slot in must or item.is_null for item in used):
            return [Wording(self.silence)]
        found = []
        there = {item.slot for item in used} | {f"{item.slot}:{item.name}" for item in used}
        replaced = {name for item in used for name in item.replaces}
        for item in used:
            if replaced & {item.slot, f"{item.slot}:{item.name}"}:
                continue
            others, clause = item.beside
            for place, wording in enumerate(item.wordings):
                stated = replace(wording, sentence=sentences[item.slot])
                if place == 0 and not there.isdisjoint(others):
                    stated = replace(stated, clause=clause)
                if stated.multiplied_by not in parameters:
                    stated = replace(stated, multiplied_by="")
                labels = (stated.label, stated.opposite_label)
                if name and not any(is_named(label, name) for label in labels):
                    stated = replace(stated, label="", opposite_label="")
                found.append(stated)
        return [wording for wording in found if wording.clause]

    def write(self, composition: Composition, name: str = "", *, pooled: bool = False) -> str:
        """Source of the theory: docstring, declarations, what it says at which numbers, and ``choose``.

        Args:
            composition: Form, and priors where some were learned.
            name: Name of a published theory; the table's name of the form when empty.
            pooled: Whether the priors were learned from people who could not be told apart.
        """
        used = self.used(composition)
        clauses = self.clauses(composition, name)
        priors = {
            key: parse_prior(key, value) for key, value in self.parameters(composition).items()
        }
        head = name or self.head(composition)
        claim = account_of(head, clauses, priors, pooled=pooled).claim
        docstring = fill(
            f"{head}: {claim}", width=110, break_on_hyphens=False, break_long_words=False
        )
        # In the grammar's order, so that one structure is one source whatever the order of the edits that led to it.
        slots = {
            item.slot: [other.name for other in used if other.slot == item.slot] for item in used
        }
        predictions = self.predictions_of(composition)
        return (
            f'"""{docstring}\n"""\n\n'
            f"PARAMETERS = {pformat(self.parameters(composition), width=110, sort_dicts=False)}\n"
            f"COMPOSITION = {pformat(slots, width=110, sort_dicts=False)}\n"
            f"CLAUSES = {pformat([item.to_literal() for item in clauses], width=110, sort_dicts=False)}\n"
            + ("POOLED = True\n" if pooled else "")
            + (
                f"PREDICTIONS = {pformat(predictions, width=110, sort_dicts=False)}\n"
                if predictions
                else ""
            )
            + "\n\n"
            + self._functions(used)
        )

    def write_untold(self, composition: Composition) -> str:
        """Source that answers as the theory does and says nothing of what it means: for what is only glanced at."""
        return (
            '"""A form: what it says is not told."""\n\n'
            f"PARAMETERS = {self.parameters(composition)!r}\n\n\n"
            f"{self._functions(self.used(composition))}"
        )

    def _functions(self, used: Sequence[Mechanism]) -> str:
        """Source of the helpers and of all that a theory of these mechanisms does."""
        learns = any(item.learn for item in used)
        body = _joined(self.before, *(item.code for item in used), self.after)
        return (
            (dedent(self.helpers).strip("\n") + "\n\n\n" if self.helpers else "")
            + (self._learning(used) if learns else "")
            + f"def choose(parameters, trials, xp{', state' if learns else ''}):\n"
            + body
        )

    def write_for(
        self, composition: Composition, stimuli: Sequence[Stimuli], *, walks: bool = True
    ) -> str:
        """Source with the same answers to these trials as that of `write`, and less work where the grammar knows how.

        Only processes of the laboratory are given it: what `write` gives is submitted, checked and scored.

        Args:
            composition: Form; priors are not written.
            stimuli: All trials that it will be asked about.
            walks: Whether trials come one after another, each once, as they do for all who learn; else the same come
                again and again, and what depends on them alone is worked out once.
        """
        used = self.used(composition)
        walks = walks or any(item.learn for item in used)
        quicker = self.quicker
        if quicker and (quicker.walks != walks or not all(map(quicker.answers, stimuli))):
            quicker = None
        if walks:
            quick = quicker.of(self, used) if quicker else None
            return (quick or self).write_untold(composition)
        texts = quicker.texts(used) if quicker else None
        before, helpers = self.before, self.helpers
        if quicker and texts is not None:
            before, helpers = quicker.before, quicker.helpers
        parts = (before, *(item.code for item in texts or used), self.after)
        return write_prepared(helpers, parts) or self.write_untold(composition)

    def form(self, composition: Composition, source: str) -> Theory:
        """Build what `read_program` makes of a source of `write_untold` or `write_for`, without reading it."""
        declared = self.parameters(composition)
        priors = {name: parse_prior(name, prior) for name, prior in declared.items()}
        learns = any(item.learn for item in self.used(composition))
        return Theory(TheoryProgram(source, "grammar"), "A form", "", priors, None, learns)

    def wrote(self, source: str, slots: Mapping[str, Sequence[str]]) -> bool:
        """Whether the functions of a source are, letter by letter, those that this grammar writes for a composition.

        Docstrings and declarations may be others: names and learned numbers change.
        """
        try:
            own = self.write(composition_of(slots, {}))
        except GrammarError:
            return False
        return _functions_of(source) == _functions_of(own)

    def writes(self, source: str, slots: Mapping[str, Sequence[str]]) -> bool:
        """Whether a source, but for its docstring and declarations, is letter by letter this grammar's.

        `wrote` asks for the same and takes no source whose helpers begin with another statement than a function.
        """
        try:
            own = self.write(composition_of(slots, {}))
        except GrammarError:
            return False
        return _code_of(source) == _code_of(own)

    def _learning(self, used: Sequence[Mechanism]) -> str:
        """Source of ``start`` and ``learn``."""
        start = _joined("state = {}", *(item.start for item in used), "return state")
        learn = _joined(
            "state = dict(state)", self.before_learn, *(item.learn for item in used), "return state"
        )
        return (
            f"def start(parameters, trials, xp):\n{start}\n\n"
            f"def learn(parameters, trials, xp, state, response, feedback):\n{learn}\n\n"
        )

    def edits(self, composition: Composition) -> list[tuple[str, Composition]]:
        """All compositions one change away: a mechanism replaced, added or removed, each with the change in words."""
        found: list[tuple[str, Composition]] = []
        for slot in self.slots:
            have = composition.slots.get(slot.name, ())
            others = [name for name in self.names[slot.name] if name not in have]
            options: list[tuple[str, tuple[str, ...]]] = []
            for index, name in enumerate(have):
                rest = have[:index] + have[index + 1 :]
                if len(rest) >= slot.least:
                    options.append((f"drop {name} from {slot.name}", rest))
                options += [
                    (f"replace {name} by {other} in {slot.name}", (*rest, other))
                    for other in others
                ]
            if len(have) < slot.most:
                options += [(f"add {other} to {slot.name}", (*have, other)) for other in others]
            edited = (
                (words, self._with(composition, slot.name, names)) for words, names in options
            )
            found += [(words, edit) for words, edit in edited if self.is_coherent(edit)]
        return found

    def is_coherent(self, composition: Composition) -> bool:
        """Whether every mechanism has what it rests on; see `Mechanism.rests_on`."""
        return next(self.idle(composition), None) is None

    def idle(self, composition: Composition) -> Iterator[Mechanism]:
        """Mechanisms of a composition that lack what they rest on, so that they change nothing."""
        there = {f"{slot}:{name}" for slot, names in composition.slots.items() for name in names}
        for slot, names in composition.slots.items():
            for name in names:
                mechanism = self.mechanism(slot, name)
                if mechanism.rests_on and there.isdisjoint(mechanism.rests_on):
                    yield mechanism

    def compose(self, rng: np.random.Generator) -> Composition:
        """A coherent composition drawn at random: of every slot a random admissible number of mechanisms."""
        while not self.is_coherent(drawn := self._drawn(rng)):
            pass
        return drawn

    def _drawn(self, rng: np.random.Generator) -> Composition:
        slots: dict[str, tuple[str, ...]] = {}
        for slot in self.slots:
            names = self.names[slot.name]
            # Optional slots are left empty half of the time, or random compositions would be all ornament.
            wanted = (
                slot.least if rng.random() < 0.5 else int(rng.integers(slot.least, slot.most + 1))
            )
            chosen = rng.permutation(len(names))[: min(wanted, len(names))]
            slots[slot.name] = tuple(names[place] for place in sorted(chosen))
        return Composition(slots)

    def mechanisms_repairing(self, feature: str) -> list[Mechanism]:
        """Mechanisms that could repair mispredictions along ``feature``."""
        return [item for item in self.mechanisms if feature in item.repairs]

    def _with(self, composition: Composition, slot: str, names: Sequence[str]) -> Composition:
        order = self.names[slot].index
        slots = dict(composition.slots) | {slot: tuple(sorted(names, key=order))}
        return Composition(
            {item.name: slots[item.name] for item in self.slots if item.name in slots},
            composition.priors,
        )


def _joined(*parts: str) -> str:
    """Statements one after another, as the body of a function."""
    written = [dedent(part).strip("\n") for part in parts]
    return indent("\n".join(part for part in written if part), "    ") + "\n"


@cache
def _read_in(code: str) -> frozenset[str]:
    """Names that statements read, other than to multiply them by 0."""
    found: set[str] = set()
    nodes: list[ast.AST] = list(parse(_body(code)).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        if not _is_nothing(node):
            nodes += ast.iter_child_nodes(node)
    return frozenset(found)


def _is_nothing(node: ast.AST) -> bool:
    """Whether an expression is 0 times something."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    return isinstance(node.left, ast.Constant) and node.left.value == 0


@cache
def _written_in(code: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names that statements set or define, and those of them that are set whatever happens."""
    statements = parse(_body(code)).body
    simple = [item for item in statements if isinstance(item, ast.Assign)]
    functions = {item.name for item in statements if isinstance(item, ast.FunctionDef)}
    return _set_in(statements) | functions, _set_in(simple) | functions


def _set_in(statements: Iterable[ast.stmt]) -> frozenset[str]:
    nodes = (node for statement in statements for node in ast.walk(statement))
    names = (node for node in nodes if isinstance(node, ast.Name))
    return frozenset(node.id for node in names if isinstance(node.ctx, ast.Store))


def _body(code: str) -> str:
    """Statements of a function's body, as a module of their own."""
    return re.sub(r"(?m)^(\s*)return\b", r"\1_ =", dedent(code))


def _functions_of(source: str) -> str:
    """A source from its first function on; all of it, where something else than its declarations stands before that."""
    head, function, rest = source.partition("\ndef ")
    try:
        docstring, *declared = parse(head).body
    except (SyntaxError, ValueError):
        return source
    is_told = isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)
    return function + rest if is_told and all(map(_is_declaration, declared)) else source


def _code_of(source: str) -> str:
    """A source after its docstring and the declarations that follow it; all of it if other code shares their lines."""
    try:
        docstring, *body = parse(source).body
    except (SyntaxError, ValueError):
        return source
    if not (isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant)):
        return source
    declared = list(takewhile(_is_declaration, body))
    last = (declared or [docstring])[-1].end_lineno or 0
    if any(node.lineno <= last for node in body[len(declared) :]):
        return source
    return "".join(source.splitlines(keepends=True)[last:])


def _is_declaration(node: ast.stmt) -> bool:
    """Whether a statement gives a literal to one of the names that a theory declares, and so to none that it uses."""
    return (
        isinstance(node, ast.Assign)
        and all(isinstance(name, ast.Name) and name.id in DECLARATIONS for name in node.targets)
        and all(isinstance(part, LITERAL) for part in ast.walk(node.value))
    )


def composition_of(
    literal: Mapping[str, Sequence[str]], priors: Mapping[str, Mapping[str, Any]]
) -> Composition:
    """Read a composition back from a source's ``COMPOSITION`` and ``PARAMETERS``."""
    return Composition({slot: tuple(names) for slot, names in literal.items()}, priors)
