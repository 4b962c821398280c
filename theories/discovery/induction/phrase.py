"""Phrases of induced rules, built from the names of their numbers by the grammar of English."""

from __future__ import annotations

import re

COMPARATIVES = (
    (re.compile(r"^(best|worst) "), ("better", "worse")),
    (re.compile(r"\b(delay|length|streak|time since)\b"), ("longer", "shorter")),
    (
        re.compile(
            r"\b(amount|range|variance|deviation|spread|differences?|distances?|(dis)?advantages?|changes?"
            r"|imbalance|inequality|shortfall|surplus|total|sum)\b"
        ),
        ("larger", "smaller"),
    ),
)
"""Comparatives of numbers with such words in their names; others are higher or lower."""
HEAD = re.compile(r" (?:of|minus|plus|per|relative|times|in) |, | \(")
"""Pattern of what follows the noun, and its adjectives, that a name is about."""
ALONE = re.compile(
    r"^(highest|lowest|largest|smallest|longest|best|worst|least|first|last|larger|smaller|higher|lower)\b|,|otherwise"
)
"""Names that no adjective can precede."""
CLOSENESS = re.compile(r"(squared )?closeness of the (?P<what>.+) to (?P<level>[\d.]+)(?P<rest>.*)")
RANKED = re.compile(
    r"with the (?P<more>\w+) (?:logarithm|square root) of the (?P<of>payoff|amount|delay)\b"
)
MORE = frozenset(("higher", "larger", "longer"))
ODDNESS = "oddness of the "
ARTICLE = re.compile("^(an?|the) ")


def comparatives(name: str) -> tuple[str, str]:
    """Words for more and for less of a number, by the noun that its name begins with."""
    head = HEAD.split(name)[0]
    return next((words for nouns, words in COMPARATIVES if nouns.search(head)), ("higher", "lower"))


def superlatives(name: str) -> tuple[str, str]:
    """Words for most and for least of a number."""
    more, less = comparatives(name)
    return {"better": "best"}.get(more, f"{more[:-1]}st"), {"worse": "worst"}.get(
        less, f"{less[:-1]}st"
    )


def having(name: str, *, more: bool) -> str:
    """Name what distinguishes the option with more of a number, or with less: "with the longer delay"."""
    if near := CLOSENESS.fullmatch(name):
        verb = "are" if near["what"].endswith("ratings") else "is"
        distance = "closer to" if more else "further from"
        return (
            f"whose {near['what']} {verb} {distance} {figure(float(near['level']))}{near['rest']}"
        )
    if name.startswith(ODDNESS):
        return f"with the {'odd' if more else 'even'} {name.removeprefix(ODDNESS)}"
    if name.startswith("number of "):
        return f"with {'more' if more else 'fewer'} {name.removeprefix('number of ')}"
    if name.startswith(("larger of two", "smaller of two")):
        return f"that is {'ahead' if more else 'behind'} in the {name}"
    adjective = comparatives("" if "," in name else name)[0 if more else 1]
    if ALONE.search(name):
        comma = "," if "," in name else ""
        return f"whose {name}{comma} is {adjective}"
    return f"with the {adjective} {name}"


def by_rank(words: str) -> str:
    """Words of a rule that only compares: what has the larger logarithm or square root is larger itself."""
    return RANKED.sub(lambda found: having(found["of"], more=found["more"] in MORE), words)


def with_article(noun: str, adjective: str = "") -> str:
    """A noun with its indefinite article; a plural has none."""
    words = f"{adjective} {noun}" if adjective else noun
    if is_plural(noun):
        return words
    return f"{'an' if words[0].lower() in 'aeiou' else 'a'} {words}"


def is_plural(noun: str) -> bool:
    """Whether a noun, without what follows "of", is a plural."""
    head = noun.split(" of ")[0]
    return head.endswith("s") and not head.endswith("ss")


def be(noun: str) -> str:
    """The verb that goes with a noun."""
    return "are" if is_plural(noun) else "is"


def the(name: str) -> str:
    """A number's name with the definite article."""
    return f"the {ARTICLE.sub('', name)}"


def figure(number: float) -> str:
    """A number as text: two digits that count, or all of a whole number."""
    return f"{number:g}" if float(number).is_integer() else f"{float(f'{number:.2g}'):g}"


def at_cut(words: str, cut: float, *, whole: bool = False) -> str:
    """Words with a threshold in the place of ``{cut}``, or of ``{percent}``.

    Args:
        words: Such as "the total is above {cut}".
        cut: The threshold.
        whole: Whether the number is always whole, so that what exceeds the threshold reaches the next whole number.
    """
    if whole and not float(cut).is_integer():
        least = f"{int(cut // 1) + 1}"
        for beyond in ("more than {cut}", "above {cut}"):
            words = words.replace(beyond, f"at least {least}")
    return words.replace("{cut}", figure(cut)).replace("{percent}", f"{figure(100 * cut)}%")
