"""Exhibits that roles read: records, short enough for a prompt, with the digests by which they are cited."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lakatos.experiments.task import Domain, Stimuli
from lakatos.language_models.context import ContextEntry
from lakatos.language_models.tool import mention
from lakatos.theories.discovery.roles.typed_claim import ClaimFact, facts_in
from lakatos.theories.engine.checks.claim import variations
from lakatos.theories.engine.checks.prediction import PROPERTIES
from lakatos.theories.engine.record import Diagnosis
from lakatos.theories.engine.sandbox.lint import called_functions
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest

MOST_OF_TITLE = 60
PREDICTED = 10**6
"""Place of predictions, which change with every cycle, after the study (0) and its experiments (1, 2, ...)."""
OF_CYCLE = PREDICTED + 1
"""Place of everything else that changes with every cycle."""
_GRAMMAR_NAMES = re.compile(r"^try (?:[^:,]+:[^:,]+, )*[^:,]+:[^:,]+: ")
"""Names of mechanisms, which mean nothing without the grammar."""
AT_LIMIT = 0.02
"""Share of a parameter's range: a centre that is nearer to an end than this lies at it."""
_ONE_MORE_PARAMETER = "a theory that had this pattern as one more parameter"
LEAST_GAIN = 0.0005
"""Nats per choice below which it is not worth a line to say how a finding could be mended."""
_OF_THE_GRAMMAR = {"COMPOSITION", "CLAUSES"}


@dataclass(frozen=True)
class Exhibit:
    """One thing that a model is given to read, with its title and reference."""

    title: str
    value: Any
    """Plain values, or a text."""
    reference: str = ""
    """Digest of the record that it shows; empty for what cannot be cited."""
    facts: tuple[ClaimFact, ...] | None = None
    """Facts that describe each of its numbers; None for plain values, called by the names on the way."""
    place: int = OF_CYCLE
    """Place in a prompt: what stays the same for longer comes first, so that servers read it once."""

    @property
    def numbers(self) -> tuple[ClaimFact, ...]:
        """Facts from which claims about it are computed."""
        return tuple(facts_in(self.value)) if self.facts is None else self.facts

    def is_cited_by(self, mark: str) -> bool:
        """Whether a citation means it: ``#`` and the beginning of its digest."""
        return bool(self.reference) and self.reference.startswith(mark.removeprefix("#"))

    @property
    def entry(self) -> ContextEntry:
        """The exhibit as a piece of data in a prompt."""
        title = self.title[
            :MOST_OF_TITLE
        ]  # so that the fence, which cuts long sources, leaves the digest
        source = f"{title} {mention(self.reference)}" if self.reference else title
        return ContextEntry(
            kind="data", text=_text(self.value), source=source, reference=self.reference
        )


def _text(value: Any) -> str:
    """Lists and tables a line for each item, for people and for few tokens."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {_line(item)}" for name, item in value.items())
    return "\n".join(_line(item) for item in value)


def _line(value: Any) -> str:
    """A value in few marks: names before their values, nested names in brackets."""
    match value:
        case str():
            return value
        case Mapping():
            return ", ".join(
                f"{name} ({_line(item)})" if isinstance(item, Mapping) else f"{name} {_line(item)}"
                for name, item in value.items()
            )
        case list() | tuple():
            return "; ".join(map(_line, value))
    return json.dumps(value, ensure_ascii=False)


def records_of(exhibits: Sequence[Exhibit]) -> dict[str, Any]:
    """Return what can be cited, by digest; all that is shown of a record where it is shown in parts."""
    found: dict[str, list[Any]] = {}
    for item in exhibits:
        if item.reference:
            found.setdefault(item.reference, []).append(item.value)
    return {
        reference: values[0] if len(values) == 1 else values for reference, values in found.items()
    }


def fitting(
    exhibits: Sequence[Exhibit], room: int, size: Callable[[ContextEntry], int]
) -> tuple[Exhibit, ...]:
    """The exhibits that fit, in order of importance; one that is too long is left out, not cut.

    Args:
        exhibits: The most important first.
        room: Tokens.
        size: Tokens of an entry.
    """
    kept = []
    for item in exhibits:
        if (needed := size(item.entry)) <= room:
            kept.append(item)
            room -= needed
    return tuple(kept)


def case_exhibit(diagnosis: Diagnosis, digest: Digest, names: Mapping[Digest, str]) -> Exhibit:
    """The case file: who lost to whom, where, and what survived the checks."""
    value: dict[str, Any] = {
        "loser": names[diagnosis.loser],
        "leader": names[diagnosis.leader],
        "behind_nats_per_choice": rounded(diagnosis.difference),
        "standard_error": rounded(diagnosis.standard_error),
    }
    if diagnosis.tie:
        value["settled"] = (
            "no: the interval of the difference includes zero, or few participants are behind it; "
            "the leader is the simplest theory that is not behind the "
            "best by more than one"
        )
    value |= {
        "where": diagnosis.location,
        "hypothesis": diagnosis.hypothesis,
    }
    loser, leader = names[diagnosis.loser], names[diagnosis.leader]
    facts = [
        ClaimFact("score", -diagnosis.difference, of=loser, against=leader),
        ClaimFact("score", diagnosis.difference, of=leader, against=loser),
        ClaimFact("standard_error", diagnosis.standard_error, of=loser, against=leader),
        ClaimFact("standard_error", diagnosis.standard_error, of=leader, against=loser),
    ]
    claims = [item for item in diagnosis.claims if item.feature] or diagnosis.claims
    for number, claim in enumerate(claims, start=1):
        value[f"claim_{number}"] = claim.text
        facts.append(ClaimFact(f"claim_{number}", claim.effect))
        if claim.recommendation and (claim.gain is None or claim.gain >= LEAST_GAIN):
            advice = _GRAMMAR_NAMES.sub("", claim.recommendation)
            value[f"advice_{number}"] = advice.replace(
                _ONE_MORE_PARAMETER, "one more parameter for it"
            )
    return Exhibit("case file", value, digest, tuple(facts))


def theory_exhibit(theory: Theory, title: str, beside: Exhibit | None = None) -> Exhibit:
    """Show the part of a theory's source that decides how it chooses, and its estimates; it cannot be cited.

    Args:
        theory: Theory with the population that the responses taught.
        title: Its place in the case.
        beside: Another source that is shown before, whose functions are named only.
    """
    estimates = [
        f"# estimate of {name}: {estimate_in_words(prior)}" for name, prior in theory.priors.items()
    ]
    source = essential_source(theory.program.source)
    if beside is not None:
        source = _without_functions_of(beside.value, source)
    return Exhibit(f"source of {title}: {theory.name}", source + "\n".join(estimates))


def estimate_in_words(prior: Prior) -> str:
    """State the estimate of a parameter, and whether it lies at an end of its declared range."""
    if prior.idle:
        return "nothing: no presented trial depends on it"
    ends = prior.latent(np.array([prior.low, prior.high]))
    spread = "" if np.isnan(prior.spread) else f", people differ by {rounded(prior.spread)}"
    scale = " on the log scale" if prior.is_log else ""
    middle = float(prior.quantile(np.array([0.5]))[0])
    place = float((prior.latent(np.array([middle]))[0] - ends[0]) / max(ends[1] - ends[0], 1e-12))
    words = f"{rounded(middle)}{spread}{scale}; range {rounded(prior.low)} to {rounded(prior.high)}"
    if place < AT_LIMIT or place > 1 - AT_LIMIT:
        words += "; IT LIES AT THE LIMIT"
    return words


def essential_source(source: str) -> str:
    """A source without what readers have no use for: names of the grammar, and functions that are never called."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return source
    called = {item.name for item in called_functions(body)}
    lines = source.splitlines()
    for item in reversed(body):
        idle = isinstance(item, ast.FunctionDef) and item.name not in called
        if idle or (isinstance(item, ast.Assign) and _assigns(item) <= _OF_THE_GRAMMAR):
            del lines[item.lineno - 1 : item.end_lineno]
        elif isinstance(item, ast.Assign) and _assigns(item) == {"PARAMETERS"}:
            lines[item.lineno - 1 : item.end_lineno] = _parameters(item)
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip() + "\n"


def _without_functions_of(shown: str, source: str) -> str:
    """A source in which functions that stand word for word in another one are named in a comment."""
    lines = source.splitlines()
    known = set(_functions(shown).values())
    for item, text in reversed(_functions(source).items()):
        if text in known:
            comment = f"# {item.name} is the same function as above"
            lines[item.lineno - 1 : item.end_lineno] = [comment]
    return "\n".join(lines) + "\n"


def _functions(source: str) -> dict[ast.FunctionDef, str]:
    """Functions of a source with their text; none of a text that cannot be parsed."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return {}
    functions = [item for item in body if isinstance(item, ast.FunctionDef)]
    return {item: ast.get_source_segment(source, item) or "" for item in functions}


def _parameters(item: ast.Assign) -> list[str]:
    """The declaration of parameters, a line for each, with unit and meaning as its comment."""
    try:
        declared = ast.literal_eval(item.value)
        lines = [_parameter(name, dict(prior)) for name, prior in declared.items()]
    except (ValueError, TypeError, AttributeError):
        return ast.unparse(item).splitlines()
    return ["PARAMETERS = {", *lines, "}"]


def _parameter(name: str, prior: dict[str, Any]) -> str:
    words = ", ".join(filter(None, (prior.pop("meaning", ""), prior.pop("unit", ""))))
    return f'    "{name}": {json.dumps(prior)},' + (f"  # {words}" if words else "")


def _assigns(item: ast.Assign) -> set[str]:
    return {target.id for target in item.targets if isinstance(target, ast.Name)} or {""}


def trials_exhibit(domain: Domain, stimuli: Stimuli) -> Exhibit:
    """Show what theories see of a trial: arrays and their shapes, and one trial in words."""
    value = _task_in_words(domain)
    if domain.sequential:
        one = {name: np.asarray(array)[:1] for name, array in stimuli.arrays.items()}
        shown = domain.shown(one, {})
        names = [name for name in shown if name in one]
        for name, array in shown.items():
            axes = ["n_people"] if name in one else ["n_draws or 1", "n_people"]
            value[f'trials["{name}"]'] = _shape([*axes, *np.shape(array)[len(axes) :]])
        for name in domain.feedback(one, shown, np.zeros((1, 1), dtype=np.intp)):
            value[f'feedback["{name}"]'] = _shape(["n_draws or 1", "n_people"])
    else:
        names = list(stimuli.arrays)
        value |= {
            f'trials["{name}"]': _shape(["n_trials", *a.shape[1:]])
            for name, a in stimuli.arrays.items()
        }
    value["options"] = f"{domain.n_options(stimuli)}, called {', '.join(domain.options)}"
    value["number of cues, options or steps"] = (
        "may differ from experiment to experiment; take it from the shapes, and index nothing that need not be there. "
        f"The checks also ask about trials of these shapes: {'; '.join(_shapes_of_checks(domain, names))}"
    )
    value["a trial"] = domain.describe(stimuli, 0)
    return Exhibit("trials", value, place=0)


def _task_in_words(domain: Domain) -> dict[str, Any]:
    """Describe the task in the researcher's words: what people read, and what a program states at its beginning."""
    texts = getattr(domain, "texts", None)
    file = getattr(domain, "task_file", None)
    own = None
    if file is not None and file.file.endswith(".py"):
        own = ast.get_docstring(ast.parse(file.text))
    if not texts:
        own = own or sys.modules[type(domain).__module__].__doc__ or ""
    value: dict[str, Any] = {"the task": " ".join(own.split())} if own else {}
    if not texts:
        return value
    read = next(iter(texts.values()))
    value |= {
        "the question that people are asked": read["question"],
        "the instructions that people read": list(read["instructions"]),
    }
    labels, words = labels_and_words(domain)
    for name, label in labels.items():
        numbered = ", ".join(f"{place} {word}" for place, word in enumerate(words.get(name, ())))
        value[f"attribute {name}"] = (
            f"{label}; its values are numbers: {numbered}" if numbered else label
        )
    if domain.sequential:
        value["feedback"] = (
            'people answer one trial after another and see what came of a choice: "reward" is the outcome of the '
            'chosen option; where all outcomes are shown, "outcome_1", "outcome_2" and so on are those of every option'
        )
    return value


def labels_and_words(domain: Domain) -> tuple[dict[str, str], dict[str, Sequence[str]]]:
    """Return a declared task's labels of attributes, and the words that their numbers stand for."""
    labels = domain.attribute_labels() if hasattr(domain, "attribute_labels") else {}
    words = domain.attribute_words() if hasattr(domain, "attribute_words") else {}
    return dict(labels), {name: item for name, item in words.items() if item}


def _shapes_of_checks(domain: Domain, names: Sequence[str]) -> list[str]:
    """Shapes of the arrays of the trials with which every theory is checked: the smallest and the largest."""
    sets = domain.probes(np.random.default_rng(0))
    lines = []
    for name in names:
        shapes = sorted({tuple(np.shape(part[name])[1:]) for part in sets if name in part.arrays})
        if shapes and any(shapes):
            ends = list(dict.fromkeys([shapes[0], shapes[-1]]))
            lines.append(f"{name} {' to '.join(str(list(shape)) for shape in ends)} a trial")
    return lines


def variations_exhibit(domain: Domain) -> Exhibit:
    """The terms in which predictions are stated."""
    value = {f'"varied": "{name}"': meaning for name, meaning in variations(domain).items()}
    value |= {
        f'"property": "{name}"': words.replace("{change}: that", "the change").replace(
            "choosing it", "choosing what is varied"
        )
        for name, words in PROPERTIES.items()
    }
    value['"of"'] = '"first" or "second" where only that option is changed; "" for each by itself'
    return Exhibit("what can be varied", value)


def _shape(axes: Sequence[object]) -> str:
    return f"({', '.join(map(str, axes))}{',' * (len(axes) == 1)})"


def share_text(share: float) -> str:
    """A share with two decimals and without a leading zero; never rounded to nobody or everybody."""
    text = f"{share:.2f}"
    if float(text) in (0.0, 1.0) and share not in (0.0, 1.0):
        return "<.01" if share < 0.5 else ">.99"
    return {"0.00": "0", "1.00": "1"}.get(text, text.lstrip("0"))


def rounded(value: float) -> float:
    """A number as it is shown, with three digits."""
    return float(f"{value:.3g}")
