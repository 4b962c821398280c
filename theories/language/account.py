"""Account of a theory in words, computed from its form and the estimated parameters.

A source lists its clauses beside its parameters::

    CLAUSES = [
        "sum over all cues",
        {"says": "are {much}drawn to the product that more cues favour",
         "opposite": "{much}shun the product that more cues favour",
         "by": "majority_bonus", "unit": 0.5, "shows": "n_cues_favouring"},
    ]

A clause continues "people ...". Where it names a parameter, that parameter's learned distribution over people decides
which side of the clause is true, and of how many people; no string of the source says so by itself.
`theories.engine.checks.clause_check` tries each clause on the code, with the same numbers.

The claim tells clauses in the order of thought, which is the order of the grammar: what people see, how they weigh and
combine it, what else moves them, how they choose. What every theory of the domain takes for granted, what people hardly
do, and what changes nothing on the trials that were asked are details and no part of it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.errors import TheorySourceError
from lakatos.theories.language.prior import MOST_DOUBT, Prior
from lakatos.theories.language.topic import DIRECTED_TITLES, topic_of

Array = NDArray[np.float64]
HARDLY = 0.12
"""Distance from the null value, in units of the clause, below which a clause is hardly true. Other words of strength
would be no estimates."""
ESTIMATES = ("exponent", "ratio")
"""Units of parameters whose estimates stand beside their clauses, as readers know their scale."""
MIXED = (0.1, 0.9)
"""Shares of people above the null value between which both sides are told."""
NORMAL_95 = 1.96
SURE = 2.0
"""Standard errors by which a spread is made smaller before people are divided by it; one that they exceed says nothing
of shares."""
UNSETTLED = (0.25, 0.75)
"""Shares of a declared range above the null value between which it says nothing about the side."""
AT_LIMIT = 0.01
"""Share of the declared range: a centre nearer to a limit than this is stated to lie there."""
AS_WIDE = 0.9
"""Share of the middle 90% of the declared range: a learned distribution whose middle 90% is wider is as wide as
declared."""
FLAT = 0.5
"""Share of the declared range: a larger spread fills it, so that its limits decide how many people are where."""
APART = 0.5
"""Share of a typical value: people of whom the middle eight of ten lie farther apart are described by a range."""
SURELY = 0.99
"""Share of people that is stated as virtually all of them."""
LEAST_OFTEN = 0.01
"""Share of trials below which something hardly ever happens."""
TIMES = {1: "once", 2: "twice in a row"}
COMPARATIVES = frozenset((
    "more", "less", "higher", "lower", "faster", "slower", "sooner", "later", "quicker", "nearer", "further", "above",
    "below",
))  # fmt: skip
DEFINITE = frozenset(("what", "the", "a", "an"))
"""Words with which something begins that "it" can stand for."""
OTHERWISE = " (or the opposite: the direction is estimated)"
"""Words after a clause whose opposite is nearly as possible."""
N_PEOPLE = 400
"""Quantiles by which a distribution over people is read."""
N_PARTS = 3
"""Parts of a claim: what people see and weigh, what else moves them, and how they choose."""
BESIDES = 2
"""Part of a claim about what else moves people."""
ALSO = re.compile(
    r"^(are|prefer|(dis)?like|tend|avoid|favour|(over|under)weight|give(?= (more|less)))\b"
)
AFTER = re.compile(r"are\b")
"""First word of a tendency, before or behind which "also" stands where other clauses came before."""
MOST_JOINED = 3
"""Clauses of one sentence."""
MOST_LISTED = 4
"""Objects of one verb."""
MIDDLE = "middle 80% of people"
"""The people between the ends of a range."""
INTERVAL = "95% interval "
"""Words in the brackets behind the first value that has an interval."""
DIFFER = "people differ: "
"""Words before shares of people on two sides if either may have more of them."""
UNKNOWN_SIDE = "the data do not show whether"
"""Words before two sides of which neither is established; such clauses end a claim."""
UNKNOWN = 0.8
"""Width of the interval of a share from which on it is not stated."""
MOSTLY = "most people"
"""People of whom a side is true if the range beside it has people on both sides."""
OTHER_CHOICES = "their other choices show that"
"""Words after random choices that prevail: people learn and value also on trials on which they choose at random."""
MOST_WORDS = 6
"""Most words of a name."""
PLACE = re.compile(r"(?P<about>about )?\{(?P<name>\w+)(?P<form>[%+~#/]?)\}")
CHOICE = re.compile(r"\[([^\[\]|]*)\|([^\[\]|]*)\]")
OF_TRIALS, OF_OTHERS = re.compile(r"(?<=%) of trials\b"), " of the other trials"
"""Shares of trials, and what they are shares of where the random choices are stated before."""
MIXTURE = re.compile(
    r"instead (?P<what>.*?),? (?P<share>on (some|(up to |less than )?\d[^,]* of (the other )?)"
    r" ?trials( \([^()]*\))?)"
)
"""Pattern of a clause about another rule that people follow on a share of trials."""
ASIDE = re.compile(r"\s*\([^()]*\{[^()]*\)")
COMPLEX = re.compile(r"[,;:]| (and|or|if|where|when|once|until) ")
"""Pattern of a clause that makes a sentence of its own."""
PREDICATE = re.compile(
    r"(?!.* if )(?P<verb>(\w+ly )?((dis)?like|avoid|(over|under)weight"
    r"|tend to (avoid|take|leave|stay with|repeat|switch))"
    r"|give about|aim (higher|lower)|find|count a high rating on"
    r"|are (\w+ly )?(drawn to|driven away from)|are (\w+ )?(more|less) likely to wait,"
    r"|give (\w+ )?(more|less)|are(?= (\w+ ){1,2}on incongruent trials))"
    r" (?P<object>([^,;()]|\([^()]+\))+?)"
    r"(?P<end> ((hardly|much) )?(more|less) random| (in favour of|against) a product| on incongruent trials)?"
)
"""A verb with one object, or one condition, that may share the verb with others."""
DIRECTION = re.compile(r"give (\w+ )?(?P<which>more|less) [^,]+")
OPTION = re.compile(r"((the|an?) \w+|their last choice) (?=with |without |after )")
"""An option that is named again before what distinguishes it."""
NEARLY_RANDOM = "People choose almost at random."
WEAKLY = "as far as they do not"
ODDS = "log odds"
"""Beginning of the units of parameters that move choices."""
RANDOM = "lapse"
"""Parameter with the share of random choices."""
OFTEN = re.compile(r"\{(\w+)~\}")
FORMER = re.compile(r"\{(\w+)~\} (.*?) \(\{\1%\} of the time\)")
"""Pattern by which earlier sources stated how often something happens."""


@dataclass(frozen=True)
class Wording:
    """Statement of one part of a theory, whatever its parameters turn out to be.

    Clauses continue "people ...". They may contain places: ``{much}`` for "hardly", ``{far}`` for the same
    before "more" and "less", ``{who}`` for a number of people, and ``({name})``, ``({name%})`` or ``({name+})`` for an
    estimate as it is, in percent, or rounded up to a whole number. ``{name~}`` becomes "on 12% of trials", and
    ``{name#}`` a number of times in a row. Of ``[one|other]`` the second is stated where the first has values that were
    not estimated; parentheses with such values are dropped.
    """

    clause: str
    """Clause that is true of people whose parameter is above the neutral value."""
    parameter: str = ""
    """Parameter whose estimate decides; empty where the clause is true whatever was estimated."""
    opposite_clause: str = ""
    """Clause that is true of people whose parameter is below the neutral value; empty where nothing lies there."""
    neutral: float = 0.0
    """Value of the parameter at which the mechanism has no effect."""
    unit: float = 1.0
    """Distance from the neutral value that deserves the clause: a small part of it is "hardly"."""
    log_ratio: bool = False
    """Whether that distance is the logarithm of a ratio."""
    multiplied_by: str = ""
    """Parameter that the distance is multiplied by before it is judged."""
    feature: str = ""
    """Feature or variation of the domain along which the mechanism moves choices of the last option upwards."""
    label: str = ""
    """Label for the theory's name: "with ..."."""
    opposite_label: str = ""
    sentence: int = 1
    """Sentence of the claim; the grammar sets that of the slot."""
    overrides: bool = False
    """Whether it may reverse what other clauses state, so that only the size of its own effect is tested; the
    direction of the others is tested without it."""
    reverses_choices: bool = False
    """Whether it states that people take the other option, so that it is stated only where they do so on enough of the
    presented trials; see `clause_check.LEAST_REVERSED`."""
    opposite_short: str = ""
    """The opposite clause after "the rest", where most people do what ``clause`` says; in full where this is empty."""
    clause_short: str = ""
    """The clause after "the rest", where most people do what ``opposite_clause`` says."""
    neutral_clause: str = ""
    """Clause that stays true near the neutral value; where this is empty, the clause is a detail there."""
    taken_for_granted: bool = False
    """Whether most theories of the domain share it; stated only where nothing else is to be stated."""
    if_presented: str = ""
    """Trials that it speaks of, by feature and limit such as "rare_outcome < 0.3"; not stated without such trials."""
    unless_presented: str = ""
    """Trials in whose absence alone it is stated."""
    subject: str = ""
    """Subject of the clause where it does not continue "people ...", such as "the criterion"."""

    def to_literal(self) -> str | dict[str, Any]:
        """The clause as a source declares it."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        stated = {
            KEYS[item.name]: values[item.name]
            for item in fields(self)
            if values[item.name] != item.default
        }
        return self.clause if list(stated) == ["says"] else stated


KEYS = {
    "clause": "says",
    "parameter": "by",
    "opposite_clause": "opposite",
    "neutral": "null",
    "log_ratio": "ratio",
    "multiplied_by": "times",
    "feature": "shows",
    "overrides": "turns",
    "reverses_choices": "reverses",
    "opposite_short": "rest",
    "clause_short": "opposite_rest",
    "neutral_clause": "base",
    "taken_for_granted": "plain",
    "if_presented": "needs",
    "unless_presented": "lacks",
} | {name: name for name in ("unit", "label", "opposite_label", "sentence", "subject")}
"""Keys of `Wording`'s fields in ``CLAUSES``: sources that were recorded are read by them, so they stay as they are."""


@dataclass(frozen=True)
class StatedClause:
    """A clause at the numbers that were learned."""

    text: str
    wording: Wording
    direction: int
    """1 or -1: the side of the null value where most people are; 0 where the range was not learned yet, or where
    nothing is to be decided."""
    strength: str
    """``hardly`` or nothing."""
    size: float
    """Distance from the null value in units of the clause."""
    at_limit: bool = False
    of_some: bool = False
    """Whether the text names the people whom it is true of."""
    idle: bool = False
    """Whether no trial that people were asked depends on it: it is no part of the claim then."""
    is_unsure: bool = False
    """Whether the 95% interval of the median person includes the null value."""
    is_even: bool = False
    """Whether the interval of the share of people on either side includes a half: it gives the theory no name then."""
    is_most: bool = False
    """Whether it is about random choices that prevail: it is stated first then, as the base of other shares."""
    is_defining: bool = False
    """Whether the theory is named after it, so that the claim states it also where it has hardly an effect."""

    @property
    def statement(self) -> str:
        """The text with its subject."""
        return self.text if self.of_some else f"{self.wording.subject or 'people'} {self.text}"

    @property
    def is_detail(self) -> bool:
        """Whether it is no part of the claim where there is more to tell."""
        is_nothing = self.strength == "hardly" and not self.wording.neutral_clause
        return self.idle or self.wording.taken_for_granted or is_nothing


@dataclass(frozen=True)
class TheoryAccount:
    """Account of a theory in words at its estimated parameters."""

    name: str
    claim: str
    clauses: tuple[StatedClause, ...]


def read_clauses(literal: Any, parameters: Mapping[str, Any]) -> tuple[Wording, ...]:
    """The clauses that a source declares.

    Raises:
        TheorySourceError: The literal is no list of clauses, or one names a parameter that is not declared.
    """
    names = {key: name for name, key in KEYS.items()}
    if not isinstance(literal, list | tuple):
        raise TheorySourceError(
            "CLAUSES must be a list of strings and of dictionaries with an entry 'says'."
        )
    found = []
    for number, item in enumerate(literal, start=1):
        entry = {"says": item} if isinstance(item, str) else item
        if (
            not isinstance(entry, dict)
            or not isinstance(entry.get("says"), str)
            or set(entry) - set(names)
        ):
            raise TheorySourceError(
                f"CLAUSES, number {number}: {item!r} must have 'says', and of {sorted(names)} only."
            )
        for key, value in entry.items():
            kind = type(getattr(Wording, names[key], ""))
            if type(value) not in ((int, float) if kind is float else (kind,)):
                raise TheorySourceError(
                    f"CLAUSES, number {number}: {key!r} is {value!r}, and must be a {kind.__name__}."
                )
        entry = entry | {"says": FORMER.sub(r"\2 {\1~}", entry["says"])}
        clause = Wording(**{names[key]: value for key, value in entry.items()})
        named = {
            clause.parameter,
            clause.multiplied_by,
            *(found["name"] for found in PLACE.finditer(clause.clause + clause.opposite_clause)),
        }
        missing = named - {"", "much", "far", "who", *parameters}
        if missing:
            raise TheorySourceError(
                f"CLAUSES, number {number}: {', '.join(sorted(missing))} is no declared parameter of this theory."
            )
        found.append(clause)
    return tuple(found)


def account_of(
    head: str,
    clauses: Sequence[Wording],
    priors: Mapping[str, Prior],
    *,
    pooled: bool = False,
    lacking: Container[str] = (),
    silent: Container[str] = (),
) -> TheoryAccount:
    """The theory in words, at the learned distributions of its parameters.

    Args:
        head: Short name of the form; the strongest clause with a label that is short enough is added to it.
        clauses: Clauses in the order in which they are stated.
        priors: Declared, or as the newest fit has them.
        pooled: Whether people could not be told apart, so that a spread is what is not known of one shared value.
        lacking: What clauses need or lack, as far as no trial of that kind was asked.
        silent: ``clause`` of wordings that change nothing on the trials that were asked, or that the code contradicts.
    """
    stated = []
    for clause in clauses:
        if clause.if_presented in lacking or (
            clause.unless_presented and clause.unless_presented not in lacking
        ):
            continue
        found = tell_clause(clause, priors, pooled=pooled)
        defines = is_named(clause.label, head) or is_named(clause.opposite_label, head)
        idle = found.idle or clause.clause in silent
        is_most = _is_mostly_random(clause, clauses, priors)
        stated.append(replace(found, idle=idle, is_defining=defines, is_most=is_most))
    claim = " ".join(_sentences(stated, is_weak=is_nearly_random(stated, priors)))
    first, middle, later = claim.partition(MIDDLE)
    claim = first + middle + later.replace(MIDDLE, MIDDLE.removesuffix(" of people"))
    first, remark, later = claim.partition(f"[{INTERVAL}")
    claim = first + remark + later.replace(f"[{INTERVAL}", "[")
    return TheoryAccount(_account_name(head, stated), claim, tuple(stated))


def is_nearly_random(clauses: Sequence[StatedClause], priors: Mapping[str, Prior]) -> bool:
    """Whether nothing moves choices much, so that what people prefer hardly shows.

    A parameter in log odds moves them, unless its clause has hardly an effect or, where no clause is about it, it lies
    at the lower limit of its range.
    """
    sizes = {item.wording.parameter: item for item in clauses if item.wording.parameter}
    moving = {
        name: prior
        for name, prior in priors.items()
        if prior.unit.startswith(ODDS) and not prior.idle
    }
    if not any(prior.low > 0 for prior in moving.values()):
        return False
    return all(
        sizes[name].strength == "hardly"
        if name in sizes
        else is_learned(prior) and prior.low > 0 and at_limit(prior) and not is_at_high(prior)
        for name, prior in moving.items()
    )


def _account_name(head: str, clauses: Sequence[StatedClause]) -> str:
    """The form's name with the label of its strongest clause, if that is short enough and has no label yet."""
    title = true_title(head, clauses)
    for label in labels_in_order(head, clauses) if not re.search(r" with(out)? ", title) else ():
        name = f"{title} with {label}"
        if len(name.split()) <= MOST_WORDS:
            return name
    return title


def true_title(title: str, clauses: Sequence[StatedClause]) -> str:
    """A title in which no label names a side that people, or some of them, are not on."""
    for item in clauses:
        sides = (item.wording.label, item.wording.opposite_label)
        named = [label for label in sides if is_named(label, title)]
        if not item.direction or item.is_detail or not all(sides) or len(named) != 1:
            continue
        one, other = sides if item.direction > 0 else sides[::-1]
        words, others = one.split(), other.split()
        if item.of_some or item.is_unsure:
            kept = words[:-1] if words[-1] == others[-1] and len(words) > 1 else words
            one = f"{' '.join(kept)} or {other}"
        title = _renamed(title, named[0], one)
    for phrase, side in DIRECTED_TITLES.items():
        if not is_named(phrase, title):
            continue
        signs = {
            0 if item.of_some or item.is_unsure else item.direction * side.signs[item.wording.label]
            for item in clauses
            if item.wording.label in side.signs
            and (item.direction or item.of_some)
            and not item.is_detail
        }
        if signs - {1}:
            title = _renamed(title, phrase, side.opposite if signs == {-1} else side.both)
    return title


def declared_title(title: str, wordings: Sequence[Wording], priors: Mapping[str, Prior]) -> str:
    """A title that names both sides of a clause where the declared range of its parameter has people on both."""
    clauses = []
    for wording in wordings:
        prior = priors.get(wording.parameter)
        if prior is None or not wording.opposite_clause:
            continue
        above = float(np.mean(_distances(wording, _everybody(prior), priors) > 0))
        divided = MIXED[0] < above < MIXED[1]
        side = 1 if above >= 0.5 else -1
        clauses.append(StatedClause("", wording, side, "", 1.0, of_some=divided))
    return true_title(title, clauses)


def _renamed(title: str, words: str, others: str) -> str:
    """A title with other words in place of some."""
    found = re.sub(rf"(?i)\b{words}\b", others, title)
    return found[0].upper() + found[1:]


def is_named(label: str, title: str) -> bool:
    """Whether a title contains a label."""
    return bool(label) and re.search(rf"(?i)\b{re.escape(label)}\b", title) is not None


def labels_in_order(head: str, clauses: Sequence[StatedClause]) -> list[str]:
    """Labels of what is told: first of what is true of most people, and of this the strongest first.

    Left out are those that say again what the form's name says, those of clauses that the claim does not state, and
    those of which the data do not show the side.
    """
    words = _words_and_parts(head)
    stated = [
        item for item in _stated(clauses) if not (item.is_detail or item.is_even or item.is_unsure)
    ]
    strong = [item for item in stated if not words & _words_of_labels(item)]
    strong.sort(key=lambda item: (item.of_some, -item.size))
    return list(dict.fromkeys(filter(None, map(label_of, strong))))


def _words_of_labels(clause: StatedClause) -> set[str]:
    return _words_and_parts(f"{clause.wording.label} {clause.wording.opposite_label}")


def _words_and_parts(text: str) -> set[str]:
    """Words of a text, and the parts of those with hyphens."""
    folded = text.casefold()
    return {*re.findall(r"[\w-]+", folded), *re.findall(r"\w+", folded)}


def _stated(clauses: Sequence[StatedClause]) -> list[StatedClause]:
    """The clauses that the claim states, which alone may give a theory its name."""
    spoken = [item for item in clauses if item.text and not item.idle]
    stated = [item for item in spoken if not item.is_detail or item.is_defining]
    if all(item.wording.sentence == N_PARTS for item in stated):
        # That something hardly has an effect is told where nothing else would be but how people choose.
        stated = [item for item in spoken if not item.wording.taken_for_granted] or spoken
    every = [item.text for item in stated]
    return [item for item in stated if not _is_implied(item.text, every)]


def _sentences(clauses: Sequence[StatedClause], *, is_weak: bool = False) -> list[str]:
    """State what people do, and what they do besides, sentence by sentence.

    Args:
        clauses: All clauses.
        is_weak: Whether people choose nearly at random, whatever the clauses state.
    """
    stated = _exclusive(_stated(clauses))
    has_mixture = any(MIXTURE.fullmatch(item.text) for item in stated)
    most = [item for item in stated if item.is_most or (has_mixture and _is_lapse(item))]
    most = most if len(stated) > 1 else []
    stated = [item for item in stated if item not in most]
    sentences = [NEARLY_RANDOM] if is_weak else []
    start, last = (f"{WEAKLY}, ", "people") if is_weak else ("", "")
    if most:
        sentences += [f"{'They' if is_weak else 'People'} {item.text}." for item in most]
        start, last = f"{OTHER_CHOICES} ", "people"
        stated = [replace(item, text=OF_TRIALS.sub(OF_OTHERS, item.text)) for item in stated]
    # The last rule is applied to all trials, and the one before it to those that are left.
    for place, mixture in enumerate(
        filter(None, (MIXTURE.fullmatch(item.text) for item in stated[::-1]))
    ):
        what = mixture["what"].removesuffix(" instead")
        share = mixture["share"]
        share = re.sub("of (the other )?trials", "of the rest", share) if place else share
        sentences.append(f"{share.capitalize()}, {'they' if sentences else 'people'} {what}.")
        start, last = "otherwise, ", "people"
    stated = [item for item in stated if not MIXTURE.fullmatch(item.text)]
    unknown = [item.text for item in stated if item.text.startswith(UNKNOWN_SIDE)]
    stated = [item for item in stated if not item.text.startswith(UNKNOWN_SIDE)]
    for people, items in _in_parts(stated):
        for subject, text in _predicates(items):
            whose = people if subject == "people" else subject
            named = "they" if whose == last == people else whose
            sentence = f"{start}{f'{named} {text}'.lstrip()}."
            sentences.append(f"{sentence[0].upper()}{sentence[1:]}")
            start, last = "", whose
    for place, text in enumerate(unknown):
        sentence = text.replace(UNKNOWN_SIDE, "Nor do they show whether") if place else text
        sentences.append(f"{sentence[0].upper()}{sentence[1:]}.")
    return sentences


def _in_parts(clauses: Sequence[StatedClause]) -> list[tuple[str, Sequence[StatedClause]]]:
    """Clauses by whom they are about: where most people do something else, this comes first, and then what is left."""
    places = [place for place, item in enumerate(clauses) if _is_kind(item)]
    sizes = [clauses[place].size for place in places]
    if not places or places[0] == 0 or max(sizes) <= 0.5:
        return [("people", clauses)]
    first, last = places[0], places[-1] + 1
    kinds = [
        replace(item, text=re.sub(r",? instead$", "", item.text)) for item in clauses[first:last]
    ]
    rest = "any others" if any("virtually all" in item.text for item in kinds) else "the rest"
    return [("people", kinds), (rest, clauses[:first]), ("people", clauses[last:])]


def _predicates(clauses: Sequence[StatedClause]) -> Iterator[tuple[str, str]]:
    """Subject and predicate of each sentence."""
    for number in range(1, N_PARTS + 1):
        own = [item for item in clauses if item.wording.sentence == number]
        before = [item.text for item in clauses if item.wording.sentence < number]
        is_further = number == BESIDES and before != [] and not before[-1].startswith("do not")
        for (subject, _), same in groupby(own, lambda item: (_subject(item), _is_lapse(item))):
            texts = [item.text for item in same]
            for text in (
                _joined(texts, MOST_JOINED if number != BESIDES else 1) if subject else texts
            ):
                if is_further and subject == "people":
                    text = ALSO.sub(r"\1 also" if AFTER.match(text) else r"also \1", text)
                yield subject, text
                is_further = False


def _is_lapse(stated: StatedClause) -> bool:
    """Whether a clause states how many responses are random, which is a sentence of its own."""
    return OFTEN.findall(stated.wording.clause) == [RANDOM]


def _is_kind(stated: StatedClause) -> bool:
    """Whether a clause is about people of whom nothing else holds."""
    return "{who}" in stated.wording.clause and not stated.wording.overrides


def _exclusive(clauses: Sequence[StatedClause]) -> list[StatedClause]:
    """Clauses about kinds of people without overlap: the last kind first, since it rules, then kinds of the others."""
    places = [place for place, item in enumerate(clauses) if _is_kind(item)]
    found = list(clauses)
    for place, kind in zip(places, reversed(places), strict=True):
        text = clauses[kind].text
        if place != places[0]:
            text = f"of the others, {re.sub(' (of )?people', '', text, count=1)}"
        found[place] = replace(clauses[kind], text=text)
    return found


def _subject(clause: StatedClause) -> str:
    """Return what a clause is about; empty where its text names some people."""
    return "" if clause.of_some else clause.wording.subject or "people"


def _joined(clauses: Sequence[str], most: int = MOST_JOINED) -> list[str]:
    """Clauses about the same people as few predicates, of at most so many clauses; a complex one stands alone."""
    groups: list[list[str]] = []
    last = None
    for text in _merged(clauses):
        this = DIRECTION.fullmatch(text)
        if this and last and this["which"] != last["which"]:
            this, text = None, f"but {text.removeprefix('give ')}"
        last = this
        connected = re.match(r"(but|and) ", text)
        if connected and groups:
            groups[-1][-1] += f", {text}"
        else:
            text = re.sub(r"^(but|and) (then )?", "", text)
            fits = groups and len(groups[-1]) < most
            if fits and not any(COMPLEX.search(part) for part in (*groups[-1], text)):
                groups[-1].append(text)
            else:
                groups.append([text])
    return [_listed(group) for group in groups]


def _merged(clauses: Sequence[str]) -> Iterator[str]:
    """Neighbouring clauses with one verb as one clause: "like A and B", "give more after A, but less after B"."""
    for (verb, end), same in groupby(clauses, _verb):
        texts = list(same)
        if not verb:
            yield from texts
            continue
        for part in (texts[n : n + MOST_LISTED] for n in range(0, len(texts), MOST_LISTED)):
            yield _with_one_verb(verb, end, part)


def _with_one_verb(verb: str, end: str, texts: Sequence[str]) -> str:
    """Clauses that begin with one verb, and end alike, as one clause."""
    objects = [text[len(verb) : len(text) - len(end)].strip() for text in texts]
    named = OPTION.match(objects[0])
    if named and all(item.startswith(named[0]) for item in objects):
        objects[1:] = [item.removeprefix(named[0]) for item in objects[1:]]
    if verb == "give about" and len(texts) > 1:
        verb = "give amounts between" if len(texts) == 2 else "give weighted averages of"
    return f"{verb} {_listed(objects)}{end}"


def _verb(text: str) -> tuple[str, str]:
    """Split a clause with one object into its beginning and its end; empty for other clauses."""
    found = PREDICATE.fullmatch(text)
    return (found["verb"], found["end"] or "") if found else ("", "")


def _is_implied(text: str, others: Sequence[str]) -> bool:
    """Whether a clause states for some trials what another one states for all."""
    stated, condition, _ = re.sub(r"^(but|and) ", "", text).partition(" if ")
    return bool(condition) and any(
        other == stated or other.startswith(f"{stated} and ") for other in others
    )


def _listed(texts: Sequence[str]) -> str:
    """Words or predicates one after another."""
    *first, last = texts
    comma = "," if len(first) > 1 else ""
    return f"{', '.join(first)}{comma} and {last}" if first else last


def general_clause(wordings: Sequence[Wording], declared: Mapping[str, Prior]) -> str:
    """State a mechanism before anything was estimated: its clauses without strengths or values, as one clause.

    Args:
        wordings: Of the mechanism. Those are dropped that stand in for another one where certain trials are missing,
            and those that are taken for granted beside others.
        declared: Priors of its parameters, of which only the ranges count: they decide which side of a clause is
            stated, and whether the other one is possible, too.
    """
    ranges = {name: _even(prior) for name, prior in declared.items()}
    found = [item for item in wordings if not item.unless_presented]
    found = [item for item in found if not item.taken_for_granted] or found
    sides = [_open_side(item, ranges) for item in found]
    texts = [_filled(side.replace("{who}", "some people"), "", ranges) for side, _ in sides]
    two_sided = [place for place, (_, is_even) in enumerate(sides) if is_even]
    if two_sided:
        texts[two_sided[-1]] += OTHERWISE
    parts = [f"{item.subject} {text}".lstrip() for item, text in zip(found, texts, strict=True)]
    return ", and ".join(parts)


def _even(prior: Prior) -> Prior:
    """The even distribution over the range of a prior."""
    return replace(prior, kind="log_uniform" if prior.is_log else "uniform")


def _open_side(wording: Wording, priors: Mapping[str, Prior]) -> tuple[str, bool]:
    """The side that more of a declared range is on, and whether the other one is nearly as possible."""
    if not wording.parameter or not wording.opposite_clause:
        return wording.clause, False
    values = _everybody(priors[wording.parameter])
    above = float(np.mean(_distances(wording, values, priors) > 0))
    side = wording.clause if above >= 0.5 else wording.opposite_clause
    return side, UNSETTLED[0] < above < UNSETTLED[1]


def _everybody(prior: Prior) -> Array:
    """Values of evenly spaced people of a distribution."""
    return prior.quantile((np.arange(N_PEOPLE) + 0.5) / N_PEOPLE)


def tell_clause(
    clause: Wording, priors: Mapping[str, Prior], *, pooled: bool = False
) -> StatedClause:
    """One clause at the learned numbers: the side that is true, and of how many people."""
    if not clause.parameter:
        text = _filled(clause.clause, "", priors, pooled=pooled)
        strength = "hardly" if _is_rare(clause, priors) else ""
        return StatedClause(text, clause, 0, strength, 0.0)
    prior = priors[clause.parameter]
    of_some = "{who}" in clause.clause
    if prior.idle:
        text = _filled(_kinds_in_words(clause, None), "", priors, pooled=pooled)
        return StatedClause(text, clause, 0, "", 0.0, of_some=of_some, idle=True)
    distances = _distances(clause, _everybody(prior), priors)
    above = float(np.mean(distances > 0))
    if of_some:
        unknown = is_open(clause, prior) or SURE * prior.doubt > 1 or not is_share_learned(prior)
        unknown = unknown or not prior.doubt
        share = None if unknown else _share_of_people(clause, prior, priors)
        kind = _only_kind(clause, share) if share and clause.opposite_short else ""
        text = kind or _kinds_in_words(clause, share)
        text = _filled(text, "", priors, pooled=pooled)
        size = above if share else 0.0
        return StatedClause(text, clause, -1 if kind else 0, "", size, of_some=not kind)
    if is_open(clause, prior):
        side, is_even = _open_side(clause, priors)
        text = _filled(side, "", priors) + (OTHERWISE if is_even else "")
        return StatedClause(text, clause, 0, "", 0.0)
    return _tell_settled(clause, prior, priors, distances, pooled=pooled)


def _kinds_in_words(clause: Wording, share: tuple[float, float, float] | None) -> str:
    """State what some people do, how many they are where that is known, and what the others do where it is stated."""
    who = _people_in_words(*share) if share else "some people"
    others = "the others" if share else "others"
    if who.startswith("virtually all"):
        others = "any others"
    rest = f", and {others} {clause.opposite_short}" if clause.opposite_short else ""
    return f"{clause.clause.replace('{who}', who)}{rest}"


def _only_kind(clause: Wording, share: tuple[float, float, float]) -> str:
    """State what virtually all people do, if one of two kinds of people is all that is needed; else empty."""
    _, low, high = share
    if low < SURELY and high > 1 - SURELY:
        return ""
    kind = clause.clause.removeprefix("{who} ") if low >= SURELY else clause.opposite_short
    return f"{kind} (a mixture of two kinds of people was not supported)"


def _tell_settled(
    clause: Wording,
    prior: Prior,
    priors: Mapping[str, Prior],
    distances: Array,
    *,
    pooled: bool,
) -> StatedClause:
    """A clause about whose number something was learned: its side and strength, or both sides if people differ.

    Args:
        clause: It says something of everybody.
        prior: Prior of its parameter.
        priors: Priors of all parameters.
        distances: ``(N_PEOPLE,)`` from what says nothing, of people with this prior.
        pooled: As in `account_of`.
    """
    middle = float(_distances(clause, prior.quantile(np.array([0.5])), priors)[0])
    size = abs(middle) if pooled else float(np.median(np.abs(distances)))
    is_strong = size >= HARDLY
    strength = "" if is_strong else "hardly "
    direction = 1 if middle >= 0 or not clause.opposite_clause else -1
    mixed = is_strong and not pooled and _are_divided(clause, prior, priors)
    is_unsure = is_strong and not mixed and _is_unsure(clause, prior, pooled=pooled)
    even = False
    if mixed:
        text, even = _mixed(clause, prior, float(np.mean(distances > 0)), priors)
    elif clause.neutral_clause and not is_strong:
        text = _filled(clause.neutral_clause, "", priors, pooled=pooled)
    else:
        side = _side(clause, direction)
        if is_strong:
            side = _with_estimate(side, clause, prior, direction)
        text = _filled(side, strength, priors, pooled=pooled)
    limit = at_limit(prior)
    if is_unsure:
        text, mixed = _open_both_ways(clause, priors, direction, pooled=pooled), True
    elif is_strong and not mixed and not pooled and _has_both_sides(clause, prior, direction):
        mixed = True
        text = f"for {MOSTLY}, {clause.subject} {text}" if clause.subject else f"{MOSTLY} {text}"
    return StatedClause(
        text,
        clause,
        direction,
        strength.strip(),
        size,
        limit,
        mixed,
        is_unsure=is_unsure,
        is_even=even,
    )


def _is_unsure(clause: Wording, prior: Prior, *, pooled: bool) -> bool:
    """Whether the data do not show on which side the median person is."""
    ends = median_interval(prior, pooled=pooled)
    if not clause.opposite_clause or ends is None:
        return False
    return ends[0] <= clause.neutral <= ends[1]


def median_interval(prior: Prior, *, pooled: bool = False) -> tuple[float, float] | None:
    """95% interval of the median person, or a wider one; None where the data say nothing of it.

    If 1 / (2 doubt^2) people were known without error, the center had the standard error doubt * sqrt(2) spreads; of
    people who are known with errors, it has a smaller one. In pooled data, the spread is that error.
    """
    if not is_learned(prior) or not (pooled or 0 < prior.doubt < 0.99 * MOST_DOUBT):
        return None
    error = prior.spread if pooled else prior.doubt * np.sqrt(2) * prior.spread
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    centers = np.clip(prior.center + NORMAL_95 * error * np.array([-1, 1]), low, high)
    start, end = (_quantile(prior.narrowed(float(at), prior.spread), 0.5) for at in centers)
    return start, end


def _with_estimate(side: str, clause: Wording, prior: Prior, direction: int) -> str:
    """A side with a place for "hardly", and the parameter that decides it, if its scale is well known.

    A ratio below 1 stands as its inverse beside the opposite clause, which compares in the opposite order.
    """
    has_word = "{much}" in side or "{far}" in side
    if not has_word or prior.unit not in ESTIMATES or prior.low < 0 or "(" in side:
        return side
    form = "/" if direction < 0 and (prior.unit, clause.neutral) == ("ratio", 1.0) else ""
    return f"{side} ({prior.unit} {{{clause.parameter}{form}}})"


def _side(clause: Wording, direction: int) -> str:
    """The clause of the side on which most people are."""
    return clause.clause if direction > 0 else clause.opposite_clause


def _are_divided(clause: Wording, prior: Prior, priors: Mapping[str, Prior]) -> bool:
    """Whether answers show that people are on both sides of a clause."""
    return (
        bool(clause.opposite_clause)
        and MIXED[0] < _share_at_least(clause, prior, priors) < MIXED[1]
    )


def _has_both_sides(clause: Wording, prior: Prior, direction: int) -> bool:
    """Whether the range of values that stands in a clause includes the neutral value."""
    side = _with_estimate(_side(clause, direction), clause, prior, direction)
    is_stated = clause.parameter in [found["name"] for found in PLACE.finditer(side)]
    low, high = (_quantile(prior, share) for share in (0.1, 0.9))
    return (
        is_stated
        and bool(clause.opposite_clause)
        and _differ(prior)
        and low < clause.neutral < high
    )


def is_open(clause: Wording, prior: Prior) -> bool:
    """Whether a range is as declared: even, or a wide normal around a null value that lies within the range."""
    if prior.kind in ("uniform", "log_uniform"):
        return True
    wide = prior.spread >= 0.5 * clause.unit and prior.low < clause.neutral < prior.high
    return prior.kind == "normal" and prior.center == clause.neutral and wide


def at_limit(prior: Prior) -> bool:
    """Whether the centre of a learned distribution lies at a limit of its range."""
    if prior.idle or prior.kind in ("uniform", "log_uniform"):
        return False
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    return min(prior.center - low, high - prior.center) < AT_LIMIT * (high - low)


def _is_cut(prior: Prior) -> bool:
    """Whether a limit cuts a learned distribution within one spread of its centre."""
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    return min(prior.center - low, high - prior.center) < prior.spread


def is_as_declared(prior: Prior) -> bool:
    """Whether the middle 90% of a learned distribution is as wide as that of its declared range."""
    if prior.idle or prior.kind in ("uniform", "log_uniform"):
        return False
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    start, end = (float(value) for value in prior.latent(prior.quantile(np.array([0.05, 0.95]))))
    return end - start >= AS_WIDE * 0.9 * (high - low)


def is_held_back(prior: Prior) -> bool:
    """Whether a centre lies at a limit that only the declaration draws: not at 0, nor at 1 of a share."""
    if not at_limit(prior):
        return False
    if is_at_high(prior):
        return not (prior.high == 1.0 and prior.low in (0.0, 0.5))
    return prior.low != 0.0


def names_held_back(priors: Mapping[str, Prior]) -> tuple[str, ...]:
    """Numbers of which people may have more extreme values than the theory's declared ranges allow."""
    return tuple(name for name, prior in priors.items() if is_held_back(prior))


def is_at_high(prior: Prior) -> bool:
    """Whether the upper limit is the nearer one to the centre."""
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    return high - prior.center < prior.center - low


def is_share_learned(prior: Prior) -> bool:
    """Whether people's answers, not the limits of the declared range, say how many of them are where."""
    if prior.kind in ("uniform", "log_uniform"):
        return False
    low, high = (float(value) for value in prior.latent(np.array([prior.low, prior.high])))
    return not at_limit(prior) and prior.spread < FLAT * (high - low)


def _distances(clause: Wording, values: Array, priors: Mapping[str, Prior]) -> Array:
    """Signed distances from the null value, in units of the clause."""
    distance = np.log(values / clause.neutral) if clause.log_ratio else values - clause.neutral
    if clause.multiplied_by and clause.multiplied_by in priors:
        distance = distance * priors[clause.multiplied_by].quantile(np.array([0.5]))[0]
    return np.asarray(distance / clause.unit)


def _share_at_least(clause: Wording, prior: Prior, priors: Mapping[str, Prior]) -> float:
    """Share of people above the null value if they differ no more than their answers show."""
    alike = prior.spread * np.exp(-SURE * prior.doubt)
    values = _everybody(prior.narrowed(prior.center, float(alike)))
    return float(np.mean(_distances(clause, values, priors) > 0))


def _mixed(
    clause: Wording, prior: Prior, above: float, priors: Mapping[str, Prior]
) -> tuple[str, bool]:
    """Both sides of a clause, that of more people first with how many they are, and whether either may have more.

    No share is stated where the limits of the declared range decide how many people are where.
    """
    one, other = (
        (clause.clause, clause.opposite_short),
        (clause.opposite_clause, clause.clause_short),
    )
    if above < 0.5:
        one, other = other, one
    # Of the second side no value is repeated.
    second = one[1] or _contrast(one[0], ASIDE.sub("", other[0]))
    first, second = (_filled(text, "", priors) for text in (one[0], second))
    who, rest, is_even = "some", "others", False
    is_known = bool(prior.doubt) and is_share_learned(prior)
    if is_known:
        share, low, high = _share_of_people(clause, prior, priors)
        if above < 0.5:
            share, low, high = 1 - share, 1 - high, 1 - low
        is_even = low <= 0.5 <= high
        who, rest = _people_in_words(share, low, high), "others"
    if is_known and is_even and high - low >= UNKNOWN:
        return _open_both_ways(clause, priors), is_even
    lead = "" if is_known and not is_even else DIFFER
    who = who.replace("some people", "some") if lead else who
    if clause.subject:
        return f"{lead}for {who}, {clause.subject} {first}, and for {rest}, {second}", is_even
    return f"{lead}{who} {first}, and {rest} {second}", is_even


def _open_both_ways(
    clause: Wording, priors: Mapping[str, Prior], direction: int = 1, *, pooled: bool = False
) -> str:
    """State that the data do not show on which side of a clause people are, with the parameter that decides it."""
    one, other = clause.clause, clause.opposite_clause
    short = clause.opposite_short
    if direction < 0:
        one, other, short = other, one, clause.clause_short
    second = short or _contrast(one, ASIDE.sub("", other))
    first, second = (_filled(ASIDE.sub("", text), "", priors) for text in (one, second))
    estimates = ASIDE.findall(_with_estimate(one, clause, priors[clause.parameter], direction))
    own = [text for text in estimates if f"{{{clause.parameter}" in text]
    estimate = _filled(own[0], "", priors, pooled=pooled, wide=True) if own else ""
    return f"{UNKNOWN_SIDE} {clause.subject or 'people'} {first} or {second}{estimate}"


def _share_of_people(
    clause: Wording, prior: Prior, priors: Mapping[str, Prior]
) -> tuple[float, float, float]:
    """Share of people above the neutral value, with a 95% interval.

    If 1 / (2 doubt^2) people were known without error, the logarithm of their spread would have the standard error
    ``doubt``, their center doubt * sqrt(2) spreads, and the distance z of the center from the neutral value, in
    spreads, doubt * sqrt(2 + z^2).
    """
    neutral = float(prior.latent(np.array([clause.neutral]))[0])
    z = (prior.center - neutral) / prior.spread
    margin = NORMAL_95 * prior.doubt * np.sqrt(2 + z**2) * prior.spread
    shares = []
    for center in (prior.center, prior.center - margin, prior.center + margin):
        values = _everybody(prior.narrowed(float(center), prior.spread))
        shares.append(float(np.mean(_distances(clause, values, priors) > 0)))
    ends = (min(max(share, 0.5 / N_PEOPLE), 1 - 0.5 / N_PEOPLE) for share in shares[1:])
    low, high = sorted(ends)
    return shares[0], low, high


def _people_in_words(share: float, low: float, high: float) -> str:
    """A share of people with its interval, as the subject of a sentence."""
    interval, stated = _interval_in_words(low, high), f"{100 * share:.0f}%"
    if stated == "100%":
        return "virtually all people" if low >= SURELY else f"virtually all people ({interval})"
    if stated == "0%":
        return f"at most {np.ceil(100 * high):.0f}% of people ({interval})"
    return f"{'most' if low > 0.5 else 'some'} people ({stated}, {interval})"


def _interval_in_words(low: float, high: float) -> str:
    return f"95% interval {np.floor(100 * low):.0f}% to {np.ceil(100 * high):.0f}%"


def _contrast(one: str, other: str) -> str:
    """The other side of a clause without what it shares with the first: "less", "away from it"."""
    words, others = (
        PLACE.sub("", re.sub(r"\{(much|far)\}", "", text)).split() for text in (one, other)
    )
    n_before = _n_common(words, others)
    n_after = _n_common(words[n_before:][::-1], others[n_before:][::-1])
    differing = others[n_before : len(others) - n_after]
    if n_before and differing and differing[0].strip(",") in COMPARATIVES and len(differing) <= 2:
        return " ".join(differing).strip(",")
    if n_after > 2 and (others[-n_after] in DEFINITE or others[-n_after].endswith("ing")):
        return f"{' '.join(others[:-n_after])} it"
    return other


def _n_common(words: Sequence[str], others: Sequence[str]) -> int:
    """Count the first words that two lists share."""
    pairs = zip(words, others, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _filled(
    text: str,
    strength: str,
    priors: Mapping[str, Prior],
    *,
    pooled: bool = False,
    wide: bool = False,
) -> str:
    """A clause with "hardly" where it applies, and its learned values; values that were not learned are left out.

    With ``wide``, values also have the intervals that are far wider than the data imply.
    """
    if strength == "hardly " and "{much}" not in text and "{far}" not in text:
        text = "{much}" + text
    text = text.replace("{much}", strength).replace("{far}", strength)
    text = text.replace("hardly tend to ", "have hardly any tendency to ")

    def is_known(part: str) -> bool:
        names = (match["name"] for match in PLACE.finditer(part))
        return all(is_learned(priors[name]) for name in names)

    def aside(match: re.Match[str]) -> str:
        """Parentheses with a value, with how far people differ in it, or nothing."""
        if not is_known(match[0]):
            return ""
        names = [found["name"] for found in PLACE.finditer(match[0])]
        differ = not pooled and any(_differ(priors[name]) for name in names)
        if not differ:
            return match[0]
        ranged.update(names)
        value, mark, further = match[0][:-1].partition(";")
        link = "; " if " for " in value else " for the "
        return f"{value}{link}{MIDDLE}{mark}{further})"

    ranged = set[
        str
    ]()  # in parentheses with a range, of which the remark speaks, all values are ranges
    has_range = False

    def value(match: re.Match[str]) -> str:
        prior, form = priors[match["name"]], match["form"]
        nonlocal has_range
        if pooled or not (match["name"] in ranged or _differ(prior)):
            figure = _figure(_quantile(prior, 0.5), form, fine=prior.is_log)
            interval = _brackets(prior, form, figure, pooled=pooled, wide=wide)
            return f"{'' if interval else match['about'] or ''}{figure}{interval}"
        has_range = has_range or form != "#"
        return _range_in_words(prior, form)

    text = OFTEN.sub(r"[on {\1%} of trials|on some trials]", text)
    text = CHOICE.sub(lambda match: match[1] if is_known(match[1]) else match[2], text)
    text = PLACE.sub(value, ASIDE.sub(aside, text))
    if has_range and MIDDLE not in text:
        text = _with_aside(text, MIDDLE)
    return text


def _brackets(prior: Prior, form: str, figure: str, *, pooled: bool, wide: bool) -> str:
    """The 95% interval of a value behind it, in its form; empty where it is not known or not seen in so many digits."""
    ends = median_interval(prior, pooled=pooled)
    # Where a spread is hardly known, the interval is far wider than the data imply.
    is_wide = not pooled and SURE * prior.doubt > 1
    if ends is None or form in ("#", "+") or (is_wide and not wide):
        return ""
    low, high = (_end_of_interval(end, form, fine=prior.is_log) for end in ends)
    if form == "/":
        low, high = high, low
    if low == high == figure:
        return ""
    if at_limit(prior) and figure in (low, high):
        words = f"at least {low}" if figure == high else f"up to {high}"
    elif low.startswith("less than"):
        words = f"up to {high}"
    else:
        words = f"{low.removesuffix('%')} to {high}"
    return f" [{INTERVAL}{words}]"


def _end_of_interval(number: float, form: str, *, fine: bool) -> str:
    """An end of an interval; with three digits where two would put it at 1, the neutral value of ratios."""
    words = _figure(number, form, fine=fine)
    return f"{1 / number if form == '/' else number:.3g}" if words == "1" else words


def _with_aside(text: str, aside: str) -> str:
    """A clause with a further remark in parentheses."""
    return f"{text[:-1]}; {aside})" if text.endswith(")") else f"{text} ({aside})"


def _is_rare(clause: Wording, priors: Mapping[str, Prior]) -> bool:
    """Whether hardly anybody ever does what a clause says that tells how often."""
    shares = [priors[name] for name in OFTEN.findall(clause.clause)]
    return any(is_learned(prior) and _quantile(prior, 0.9) < LEAST_OFTEN for prior in shares)


def _is_mostly_random(
    clause: Wording, clauses: Sequence[Wording], priors: Mapping[str, Prior]
) -> bool:
    """Whether a clause states a share of random choices above one half, or above all that another share leaves."""
    if OFTEN.findall(clause.clause) != [RANDOM] or not is_learned(priors[RANDOM]):
        return False
    names = {name for other in clauses for name in OFTEN.findall(other.clause)} - {RANDOM}
    shares = [_quantile(priors[name], 0.5) for name in names if is_learned(priors[name])]
    return _quantile(priors[RANDOM], 0.5) > min([0.5, *(1 - share for share in shares)])


def is_learned(prior: Prior) -> bool:
    """Whether answers said something of how a number is distributed over people."""
    return not prior.idle and prior.kind not in ("uniform", "log_uniform")


def _quantile(prior: Prior, share: float) -> float:
    return float(prior.quantile(np.array([share]))[0])


def _differ(prior: Prior) -> bool:
    """Whether one value for all would mislead: people differ, as their answers show, or lie on one side of a limit."""
    is_one_sided = at_limit(prior) and _is_cut(prior)
    shown = 1.0 if is_one_sided else np.exp(-SURE * prior.doubt)
    alike = prior.narrowed(prior.center, float(prior.spread * shown))
    low, middle, high = (_quantile(alike, share) for share in (0.1, 0.5, 0.9))
    if is_one_sided:
        return high - low > APART * abs(middle)
    if prior.is_log:
        return high / low > 1 / APART
    return high - low > max(APART * abs(middle), 0.05 * (prior.high - prior.low))


def _range_in_words(prior: Prior, form: str) -> str:
    """State between which values the middle eight of ten people lie."""
    shares = (0.9, 0.1) if form == "/" else (0.1, 0.9)
    ends = [_figure(_quantile(prior, share), form, fine=prior.is_log) for share in shares]
    if ends[0] == ends[1]:
        return ends[0]
    if form == "#":
        low, high = (int(np.ceil(_quantile(prior, share))) for share in (0.1, 0.9))
        return "once or twice in a row" if high == 2 else f"{low} to {high} times in a row"
    if form == "%":
        is_tiny = ends[0].startswith("less than")
        return f"up to {ends[1]}" if is_tiny else f"{ends[0][:-1]} to {ends[1]}"
    return f"{ends[0]} to {ends[1]}"


def _figure(number: float, form: str, *, fine: bool = False) -> str:
    """A learned value as people would write it; ``fine`` where small values matter, as those of a rate do."""
    if form == "#":
        times = int(np.ceil(number))
        return TIMES.get(times, f"{times} times in a row")
    if form == "+":
        return f"{int(np.ceil(number))}"
    if form == "/":
        number = 1 / number
    if form == "%":
        return f"{100 * number:.0f}%" if not 0 < number < 0.005 else "less than 1%"
    if fine and 0 < abs(number) < 0.005:
        return np.format_float_positional(number, precision=2, fractional=False, trim="-")
    if abs(number) < 0.05:
        return f"{number:.1g}" if abs(number) >= 0.005 else "0"
    return f"{number:.2g}" if abs(number) < 100 else f"{float(f'{number:.2g}'):.0f}"


def label_of(clause: StatedClause) -> str:
    """Return what a clause adds to a name: people's side, or the clause's topic where they are on both."""
    label, opposite = clause.wording.label, clause.wording.opposite_label
    if clause.direction == 0 or clause.of_some:
        return topic_of(label, opposite)
    return opposite if clause.direction < 0 else label
