"""Comparison of what a model states with what the records state.

A summary or an answer is checked sentence by sentence: records that it cites (``#`` and at least eight digits of a
digest) must have been shown to it, numbers must agree with them to the precision in which they are quoted, and calls
that it says it made must have been made. Deterministic; a difference that the model worked out by itself is a number
that no record holds, and is reported as such.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.tool import ToolUse, mention

FREE_INTEGERS: Final = 12
"""Whole numbers up to this count things in prose ("two theories") and need no record unless they are tied to a name."""

_DIGITS: Final = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_NUMBER: Final = re.compile(
    rf"(?<![\w.#])(?P<hedge>(?:about|around|roughly|approximately|some|nearly|almost|circa)\s+|[~≈]\s?)?"
    rf"(?P<bound>[<>≤≥]=?\s?|(?:below|under|less than|fewer than|above|over|more than|at least|at most)\s+)?"
    rf"(?P<sign>(?<![\d.])[-−–+](?=[\d.])|minus\s+)?"
    rf"(?P<digits>{_DIGITS})"
    rf"(?P<power>[eE][-+]?\d+|\s?[×x]\s?10\^?[-−]?\d+)?"
    rf"(?P<unit>\s?%|\s?percent\b(?:age points?)?|\s?per cent\b|(?:ms|s|k|M|x|nats?|pounds?)\b)?(?![\w]|\.\d)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(rf"(?<![\w.])(?:{_DIGITS})\s?%?(?P<dash>\s?[-–−]\s?)(?=(?:{_DIGITS}))")
_CITATION: Final = re.compile(r"#([0-9a-f]{8,64})\b")
_CALL: Final = re.compile(r"\b([a-z][a-z0-9_-]*)\(([^()]*)\)")
_ARGUMENT: Final = re.compile(r"\b([a-z]\w*)\s?=\s?(\"[^\"]*\"|'[^']*'|[-−]?[\w.]+)")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])(?=\s|$)|\n+")
_LATE_CITATION: Final = re.compile(r"([.!?])\s+((?:[\[(]?#[0-9a-f]{8,64}\b[\])]?[ ,;]*)+)")
_LABEL: Final = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|[-*•])\s+")
_YEAR: Final = re.compile(
    r"\b(?:19|20)\d\d[a-z]?(?=\))|(?<=et al\. )(?:19|20)\d\d|(?<=\()(?:19|20)\d\d"
)


@dataclass(frozen=True)
class QuotedNumber:
    """A number as it stands in a text."""

    value: float
    tolerance: float
    """Half a unit of the last digit quoted, wider after "about"."""
    percent: bool
    bound: Literal["", "below", "above"]
    text: str
    start: int

    def agrees(self, value: float, *, is_percent: bool = False) -> bool:
        """Whether a record's ``value`` can be quoted like this; ``is_percent``: the record counts in percent."""
        wanted = [self.value]
        if self.percent and not is_percent:
            wanted = [self.value / 100, self.value]
        elif is_percent and not self.percent:
            wanted = [self.value, self.value * 100]
        for number in wanted:
            scale = abs(number / self.value) if self.value else (0.01 if self.percent else 1.0)
            slack = self.tolerance * scale + 1e-9 * max(abs(number), abs(value)) + 1e-12
            if self.bound == "below" and value <= number + slack:
                return True
            if self.bound == "above" and value >= number - slack:
                return True
            if not self.bound and abs(value - number) <= slack:
                return True
        return False


class QuoteFinding(FrozenPart):
    """Something said that the records do not bear out."""

    kind: Literal["tool", "argument", "result", "citation"]
    """Invented part: a call, its arguments, its result, or where it stands."""
    said: str
    """The words at fault."""
    problem: str


def numbers(text: str) -> tuple[QuotedNumber, ...]:
    """The numbers that ``text`` states: signs, thousands, powers of ten, percent, ranges and bounds understood.

    Digits inside words, citations of records, years in brackets and the labels of a list are no statements.
    """
    masked = _masked(text)
    found = []
    for match in _NUMBER.finditer(masked):
        value = Decimal(match["digits"].replace(",", ""))
        last_digit = Decimal(1).scaleb(int(value.as_tuple().exponent))
        if match["hedge"]:
            digits = "".join(map(str, value.as_tuple().digits))
            last_digit *= 10 ** (len(digits) - len(digits.rstrip("0"))) if value else 1
        power = _power(match["power"])
        unit = (match["unit"] or "").strip().lower()
        scale = Decimal(10) ** power * (1000 if unit == "k" else 1)
        sign = -1 if (match["sign"] or "").strip() in ("-", "−", "–", "minus") else 1
        bound = (match["bound"] or "").strip().lower()
        found.append(
            QuotedNumber(
                value=sign * float(value * scale),
                tolerance=float(last_digit * scale) / 2,
                percent=unit.startswith(("%", "percent", "per cent")),
                bound="below"
                if bound[:1] in ("<", "≤")
                or bound in ("below", "under", "less than", "fewer than", "at most")
                else "above"
                if bound
                else "",
                text=match.group().strip(),
                start=match.start(),
            )
        )
    return tuple(found)


def _power(text: str | None) -> int:
    if not text:
        return 0
    exponent = re.sub(r"^\s?[×x]\s?10\^?|^e", "", text.lower()).replace("−", "-")
    # An absurd power is no number of any record; bounded, so that it stays one that can be computed.
    return max(-300, min(300, int(exponent)))


def _masked(text: str) -> str:
    """``text`` at the same length, without digits that state nothing, and with the dash of a range as a word."""

    def blank(match: re.Match[str]) -> str:
        return " " * len(match.group())

    text = _CITATION.sub(blank, text)
    text = "\n".join(_LABEL.sub(blank, line) for line in text.split("\n"))
    text = _YEAR.sub(blank, text)
    return _RANGE.sub(lambda m: m.group()[: -len(m["dash"])] + ";".ljust(len(m["dash"])), text)


@dataclass(frozen=True)
class _RecordLeaf:
    """A number of a record, and the names on the way to it."""

    names: tuple[str, ...]
    value: float

    @property
    def is_percent(self) -> bool:
        return any("percent" in name for name in self.names)


def _leaves(value: Any, names: tuple[str, ...] = ()) -> Iterator[_RecordLeaf]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        if math.isfinite(value):
            yield _RecordLeaf(names, float(value))
    elif isinstance(value, str):
        for number in numbers(value):
            yield _RecordLeaf((*names, "percent") if number.percent else names, number.value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*names, str(name).lower()))
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _leaves(inner, names)


def sentences(text: str) -> tuple[str, ...]:
    """``text`` cut where sentences end; a citation after the full stop is put before it, where it belongs."""
    moved = _LATE_CITATION.sub(lambda match: f" {match[2].rstrip(' ,;')}{match[1]} ", text)
    return tuple(part.strip() for part in _SENTENCE_END.split(moved) if part and part.strip())


def check_against(text: str, value: Any) -> tuple[QuoteFinding, ...]:
    """Numbers of ``text``, a summary of ``value`` alone, that ``value`` does not hold."""
    new = [part for part in sentences(text) if not (isinstance(value, str) and part in value)]
    leaves = list(_leaves(value)) if new else []
    return tuple(
        finding
        for sentence in new
        for number in numbers(sentence)
        if (finding := _result_finding(number, sentence, leaves, "the record")) is not None
    )


def check_answer(
    text: str, uses: Sequence[ToolUse], records: Mapping[str, Any] | None = None
) -> tuple[QuoteFinding, ...]:
    """Find what ``text`` states that neither the conversation's tool calls nor the records bear out.

    Args:
        text: A final answer, or any turn of a model.
        uses: All calls that the model made in the conversation.
        records: Further records that it was shown, by digest.
    """
    known = {use.reference: use.value for use in uses if use.reference} | dict(records or {})
    findings: list[QuoteFinding] = []
    for paragraph in re.split(r"\n\s*\n", text):
        cited_before: list[str] = []
        for sentence in sentences(paragraph):
            cited, wrong = _citations(sentence, known)
            findings += wrong
            findings += _call_findings(sentence, uses)
            if cited:
                cited_before = cited
            sources = cited or cited_before
            findings += _number_findings(sentence, sources, known, excused=bool(wrong))
    return tuple(findings)


def _citations(sentence: str, known: Mapping[str, Any]) -> tuple[list[str], list[QuoteFinding]]:
    cited, wrong = [], []
    for match in _CITATION.finditer(sentence):
        full = [reference for reference in known if reference.startswith(match[1])]
        if full:
            cited += full
        else:
            wrong.append(
                QuoteFinding(
                    kind="citation",
                    said=match.group(),
                    problem=f"no record {match.group()} was shown to the model",
                )
            )
    return cited, wrong


def _call_findings(sentence: str, uses: Sequence[ToolUse]) -> Iterator[QuoteFinding]:
    """Calls that a sentence reports, by ``name(argument=value)`` or by a tool's name and ``argument=value``."""
    made = [use for use in uses if use.outcome == "returned"]
    reported = [
        (match[1], match[2])
        for match in _CALL.finditer(sentence)
        if "=" in match[2] or "_" in match[1]
    ]
    spoken = {name for name, _ in reported}
    named = sorted({use.call.name for use in uses} - spoken)
    reported += [
        (name, sentence) for name in named if re.search(rf"\b{re.escape(name)}\b", sentence)
    ]
    for name, text in reported:
        arguments = {match[1]: match[2].strip("\"'") for match in _ARGUMENT.finditer(text)}
        ours = [use for use in made if use.call.name == name]
        if not ours:
            if name in spoken or arguments:
                yield QuoteFinding(
                    kind="tool",
                    said=name,
                    problem=f"no call of {name!r} returned anything in this conversation",
                )
            continue
        known = {
            key: value
            for key, value in arguments.items()
            if any(_holds(use, key) for use in ours) or name in spoken
        }
        if known and not any(
            all(_same(use, key, value) for key, value in known.items()) for use in ours
        ):
            fields = ", ".join(f"{key}={value}" for key, value in known.items())
            yield QuoteFinding(
                kind="argument",
                said=fields,
                problem=f"no call of {name!r} was made with these arguments",
            )


def _holds(use: ToolUse, key: str) -> bool:
    return key in (use.arguments or {})


def _same(use: ToolUse, key: str, stated: str) -> bool:
    if not _holds(use, key):
        return False
    value = (use.arguments or {})[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).lower() == stated.lower()
    try:
        return math.isclose(float(stated.replace("−", "-").rstrip(".")), value, rel_tol=1e-9)
    except ValueError:
        return False


def _number_findings(
    sentence: str, sources: Sequence[str], known: Mapping[str, Any], *, excused: bool
) -> Iterator[QuoteFinding]:
    leaves = [leaf for reference in sources for leaf in _leaves(known[reference])]
    where = " and ".join(mention(reference) for reference in sources)
    plain = _ARGUMENT.sub(lambda match: " " * len(match.group()), sentence)  # checked as arguments
    for number in numbers(plain):
        if sources:
            finding = _result_finding(number, plain, leaves, where)
            if finding is not None:
                yield finding
        elif not excused and not _is_count(number):
            yield QuoteFinding(
                kind="citation",
                said=number.text,
                problem="the sentence cites no record for this number",
            )


def _is_count(number: QuotedNumber) -> bool:
    whole = (
        number.value == int(number.value) and number.tolerance == 0.5
        if abs(number.value) < 1e15
        else False
    )
    return whole and 0 <= number.value <= FREE_INTEGERS and not number.percent


def _result_finding(
    number: QuotedNumber, sentence: str, leaves: Sequence[_RecordLeaf], where: str
) -> QuoteFinding | None:
    agreeing = [leaf for leaf in leaves if number.agrees(leaf.value, is_percent=leaf.is_percent)]
    named = _named_before(number, sentence, leaves)
    if named:
        about = [leaf for leaf in leaves if named in leaf.names]
        if any(leaf in agreeing for leaf in about):
            return None
        values = ", ".join(f"{leaf.value:g}" for leaf in about[:5])
        return QuoteFinding(
            kind="result", said=number.text, problem=f"{named!r} in {where} is {values}"
        )
    if agreeing or _is_count(number):
        return None
    flipped = [leaf for leaf in leaves if number.agrees(-leaf.value, is_percent=leaf.is_percent)]
    if flipped:
        return QuoteFinding(
            kind="result",
            said=number.text,
            problem=f"{where} holds {flipped[0].value:g}: the sign differs",
        )
    return QuoteFinding(kind="result", said=number.text, problem=f"{where} holds no such number")


_LINK: Final = r"\s*(?:=|:|\bis\b|\bwas\b|\bof\b|\bequals\b|\bare\b|\bwere\b)\s*\W{0,3}$"


def _named_before(number: QuotedNumber, sentence: str, leaves: Sequence[_RecordLeaf]) -> str:
    """The name in the records that the sentence ties the number to ("skill is 0.4"), or nothing."""
    before = sentence[: number.start].lower()
    best = ""
    for name in {name for leaf in leaves for name in leaf.names}:
        words = re.escape(name).replace("_", r"[_ ]")
        if len(name) > len(best) and re.search(rf"(?<![a-z]){words}{_LINK}", before):
            best = name
    return best
