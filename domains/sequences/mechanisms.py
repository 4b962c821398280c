"""Mechanisms of judgements of randomness: accounts of what looks random, and features that draw or repel.

Each sequence has a ``randomness``, ``(n_draws, n_trials, 2)`` in log odds, that accounts and features add to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

KAHNEMAN = "Kahneman & Tversky (1972), Cognitive Psychology 3(3), 430-454"
FALK = "Falk & Konold (1997), Psychological Review 104(2), 301-318"
GRIFFITHS = (
    "Griffiths & Tenenbaum (2001), Proceedings of the Cognitive Science Society 23, 370-375; "
    "Griffiths, Daniels, Austerweil & Tenenbaum (2018), Cognitive Psychology 103, 85-109"
)
HAHN = "Hahn & Warren (2009), Psychological Review 116(2), 454-461"
LOPES = "Lopes & Oden (1987), Journal of Experimental Psychology: Learning, Memory, and Cognition 13(3), 392-400"
HARLESS = "Harless & Camerer (1994), Econometrica 62, 1251-1289"

LONGEST_STREAK = '''
def longest_streak(letters, xp):
    """Length of the longest streak of one letter, (n_trials, 2)."""
    run = longest = 1.0 * (letters[..., 0] > 0)
    for place in range(1, letters.shape[-1]):
        same = letters[..., place] == letters[..., place - 1]
        run = xp.where(same, run + 1, 1.0) * (letters[..., place] > 0)
        longest = xp.maximum(longest, run)
    return longest
'''
DESCRIPTION = '''
def description(letters, xp):
    """Fewest units that describe a sequence: 1 for a streak of one letter, 2 for a stretch that alternates."""
    in_streak = 1.0 * (letters[..., 0] > 0)
    alternating = 2.0 * in_streak
    for place in range(1, letters.shape[-1]):
        there = letters[..., place] > 0
        same = letters[..., place] == letters[..., place - 1]
        best = xp.minimum(in_streak, alternating)
        streak = xp.where(same, xp.minimum(in_streak, best + 1), best + 1)
        stretch = xp.where(same, best + 2, xp.minimum(alternating, best + 2))
        in_streak = xp.where(there, streak, in_streak)
        alternating = xp.where(there, stretch, alternating)
    return xp.minimum(in_streak, alternating)
'''
SHARES = '''
def shares_of(letters, alphabet, xp):
    """Share of each letter of the alphabet in each sequence, (n_trials, 2, n_letters)."""
    found = (letters[..., None] == alphabet[:, None, None, :]) & (letters[..., None] > 0)
    return found.sum(axis=-2) / (1.0 * (letters > 0)).sum(axis=-1)[..., None]
'''
UNEVENNESS = '''
def unevenness(letters, alphabet, xp):
    """Half of the summed distances of the letters' shares from equal ones, (n_trials, 2)."""
    there = 1.0 * (alphabet > 0)[:, None, :]
    fair = there / there.sum(axis=-1)[..., None]
    return 0.5 * xp.abs(shares_of(letters, alphabet, xp) - fair).sum(axis=-1)
'''
MIRRORED = '''
def mirrored(letters, xp):
    """1 where three or more letters read the same backwards, (n_trials, 2)."""
    length = (letters > 0).sum(axis=-1)[..., None]
    place = xp.arange(letters.shape[-1])
    source = xp.maximum(length - 1 - place, 0)
    same = xp.take_along_axis(letters, source, axis=-1) == letters
    return 1.0 * ((same | (place >= length)).all(axis=-1) & (length[..., 0] > 2))
'''
MOTIF = '''
def motif(letters, xp):
    """1 where a motif of two or more letters is repeated throughout, (n_trials, 2)."""
    length = (letters > 0).sum(axis=-1)
    found = 0.0 * length
    for period in range(2, letters.shape[-1] // 2 + 1):
        later = letters[..., period:]
        repeated = ((later == letters[..., :-period]) | (later == 0)).all(axis=-1)
        found = xp.maximum(found, 1.0 * (repeated & (length >= 2 * period)))
    return found * (longest_streak(letters, xp) < length)
'''
HELPERS = (LONGEST_STREAK, DESCRIPTION, SHARES, UNEVENNESS, MIRRORED, MOTIF)
"""Functions at module level, each may use those before it."""
MEASURED = """
letters, alphabet = trials["letters"], trials["alphabet"]
length = (1.0 * (letters > 0)).sum(axis=-1)
change = 1.0 * ((letters[..., 1:] > 0) & (letters[..., 1:] != letters[..., :-1]))
n_changes = change.sum(axis=-1)
alternation = n_changes / xp.maximum(length - 1, 1)
streak = longest_streak(letters, xp)
units = description(letters, xp)
uneven = unevenness(letters, alphabet, xp)
first_share = shares_of(letters, alphabet, xp)[..., 0]
""".strip()
"""Code of the measures by which sequences are compared, ``(n_trials, 2)`` each."""

ALTERNATION = ("alternation_difference", "changes_difference")
STREAK = ("longest_run_difference", "longest_run_share_difference")
ACCOUNT = (
    Mechanism(
        slot="account",
        name="representativeness",
        code="""
        unlike = xp.abs(alternation - parameters["ideal_alternation"][..., None])
        randomness = randomness - parameters["weight_of_rate"][..., None] * unlike
        randomness = randomness - parameters["weight_of_balance"][..., None] * uneven
        """,
        parameters={
            "ideal_alternation": uniform(
                0.3, 1.0, "share of changes", "rate of changes that looks most random"
            ),
            "weight_of_rate": log_uniform(
                0.2, 30.0, "log odds per share", "how strongly another rate of changes counts"
            ),
            "weight_of_balance": log_uniform(
                0.2, 30.0, "log odds per share", "how strongly unequal letters count"
            ),
        },
        wording=(
            Wording(
                clause="find sequences most random if about {ideal_alternation%} of neighbouring letters differ",
                parameter="weight_of_rate",
                unit=3.0,
            ),
            Wording(
                clause="find sequences whose letters are equally frequent overall {far}more random",
                parameter="weight_of_balance",
                unit=3.0,
            ),
        ),
        repairs=(*ALTERNATION, "imbalance_difference"),
        source=KAHNEMAN,
    ),
    Mechanism(
        slot="account",
        name="inference of a regular process",
        code="""
        new = 1.0 / ((alphabet > 0).sum(axis=-1)[:, None] * (1.0 + parameters["motif_of_two"][..., None]))
        two = parameters["motif_of_two"][..., None] * new
        stays = parameters["stays"][..., None]
        as_streak, as_alternation = new + 0.0 * length, two + 0.0 * length
        log_regular = 0.0 * as_streak
        for place in range(1, letters.shape[-1]):
            there = letters[..., place] > 0
            changed = change[..., place - 1]
            total = as_streak + as_alternation
            streak_next = stays * as_streak * (1 - changed) + (1 - stays) * total * new
            alternation_next = stays * as_alternation * changed + (1 - stays) * total * two
            scale = xp.where(there, streak_next + alternation_next, 1.0)
            as_streak = xp.where(there, streak_next / scale, as_streak)
            as_alternation = xp.where(there, alternation_next / scale, as_alternation)
            log_regular = log_regular + xp.log(scale)
        log_regular = log_regular + xp.log(new + two)
        log_fair = -length * xp.log(1.0 * (alphabet > 0).sum(axis=-1)[:, None])
        randomness = randomness + parameters["trust"][..., None] * (log_fair - log_regular)
        """,
        parameters={
            "stays": uniform(
                0.2, 0.98, "probability", "that a regular process goes on with its motif"
            ),
            "motif_of_two": log_uniform(
                0.02, 1.0, "ratio", "frequency of alternating motifs over streaks of one letter"
            ),
            "trust": log_uniform(
                0.05, 5.0, "log odds per log odds", "how strongly the inferred evidence counts"
            ),
        },
        wording=Wording(
            clause=(
                "find sequences random if independent draws explain them better than a process that continues a "
                "repetition or an alternation with probability {stays}"
            ),
            parameter="trust",
            unit=0.3,
        ),
        repairs=(*ALTERNATION, *STREAK, "length_difference"),
        source=GRIFFITHS,
    ),
    Mechanism(
        slot="account",
        name="difficulty of encoding",
        code='randomness = randomness + parameters["difficulty"][..., None] * units',
        parameters={
            "difficulty": log_uniform(
                0.02, 4.0, "log odds per unit", "how strongly one more unit of description counts"
            )
        },
        wording=Wording(
            clause=(
                "find sequences {far}more random, the more runs and alternating stretches it takes to describe them"
            ),
            parameter="difficulty",
            unit=0.3,
            feature="encoding_difference",
        ),
        repairs=("encoding_difference", *STREAK),
        source=FALK,
    ),
    Mechanism(
        slot="account",
        name="local balance",
        code="""
        surplus = 0.0 * length
        n_windows = 0.0 * length
        is_first = 1.0 * (letters == alphabet[:, 0][:, None, None])
        for start in range(letters.shape[-1] - 3):
            inside = 1.0 * (letters[..., start + 3] > 0)
            share = is_first[..., start : start + 4].mean(axis=-1)
            surplus = surplus + inside * xp.abs(share - 0.5)
            n_windows = n_windows + inside
        # a sequence shorter than the window is judged as a whole
        local = xp.where(n_windows > 0, surplus / xp.maximum(n_windows, 1.0), xp.abs(first_share - 0.5))
        randomness = randomness - parameters["weight_of_windows"][..., None] * local
        """,
        parameters={
            "weight_of_windows": log_uniform(
                0.2, 30.0, "log odds per share", "how strongly an unbalanced window counts"
            )
        },
        wording=Wording(
            clause="find sequences {far}more random, the more evenly the letters are balanced in each stretch of four",
            parameter="weight_of_windows",
            unit=3.0,
        ),
        repairs=("imbalance_difference", *STREAK),
        breaks=("ignores letter_names",),
        source=HAHN,
    ),
)


def _feature(
    name: str,
    measure: str,
    unit: str,
    which: str,
    label: str,
    source: str,
    repairs: tuple[str, ...],
    *,
    sd: float = 1.0,
    limit: float = 8.0,
    worth: float = LOG_ODDS,
    breaks: tuple[str, ...] = (),
) -> Mechanism:
    """A measure that makes a sequence look more random, or less; ``which`` sequences have much of it, in words."""
    parameter = f"pull_of_{name.replace(' ', '_')}"
    priors: Mapping[str, Mapping[str, Any]] = {
        parameter: normal(0.0, sd, limit, f"log odds per {unit}", f"above 0: {which} look random")
    }
    return Mechanism(
        slot="feature",
        name=name,
        code=f'randomness = randomness + parameters["{parameter}"][..., None] * ({measure})',
        parameters=priors,
        wording=Wording(
            clause=f"find {which} {{far}}more random",
            clause_short="find them more random",
            opposite_clause=f"find {which} {{far}}less random",
            opposite_short="find them less random",
            parameter=parameter,
            unit=worth,
            feature=repairs[0],
            label=label,
            opposite_label=label,
        ),
        repairs=repairs,
        breaks=breaks,
        source=source,
    )


FEATURE = (
    _feature(
        "length", "length", "letter", "longer sequences", "length",
        GRIFFITHS, ("length_difference",), sd=0.3, limit=4.0, worth=0.15,
    ),
    _feature(
        "changes", "n_changes", "change", "sequences with many alternations", "number of changes",
        "Bar-Hillel & Wagenaar (1991), Advances in Applied Mathematics 12(4), 428-454",
        ("changes_difference", "alternation_difference"), sd=0.5, limit=4.0, worth=0.15,
    ),
    _feature(
        "streak", "streak / length", "share of the length", "sequences with a long run",
        "streaks",
        "Gilovich, Vallone & Tversky (1985), Cognitive Psychology 17(3), 295-314",
        ("longest_run_share_difference", "longest_run_difference"), sd=3.0, limit=20.0, worth=2.0,
    ),
    _feature(
        "balance", "-uneven", "share", "sequences whose letters are equally frequent overall",
        "letter frequencies",
        KAHNEMAN, ("imbalance_difference",), sd=3.0, limit=20.0, worth=2.0,
    ),
    _feature(
        "mirror", "mirrored(letters, xp)", "sequence", "palindromes",
        "mirror symmetry",
        "Garner (1970), American Scientist 58(1), 34-42 (good patterns)", ("mirror_difference",),
    ),
    _feature(
        "motif", "motif(letters, xp)", "sequence", "sequences that repeat a motif", "repeated motifs",
        LOPES, ("motif_difference",), breaks=("ignores backwards",),
    ),
    _feature(
        "alternating throughout", "1.0 * (alternation == 1)", "sequence", "sequences that alternate throughout",
        "perfect alternation", LOPES, ("alternation_difference", "motif_difference"),
    ),
    _feature(
        "first letter", "first_share", "share", "sequences with many instances of the first letter of the alphabet",
        "a letter preference",
        "Nickerson (2002), Psychological Review 109(2), 330-357 (heads are named first)",
        ("first_letter_share_difference",), breaks=("ignores letter_names",),
    ),
)  # fmt: skip

BIAS = (
    Mechanism(
        slot="bias",
        name="side",
        code='bias = bias + parameters["lean"]',
        parameters={"lean": normal(0.0, 0.3, 4.0, "log odds", "preference for the second place")},
        wording=Wording(
            clause="{much}favour the sequence listed second",
            clause_short="towards the second",
            opposite_clause="{much}favour the sequence listed first",
            opposite_short="towards the first",
            parameter="lean",
            unit=LOG_ODDS,
            label="an order bias",
            opposite_label="an order bias",
        ),
        repairs=("constant",),
        breaks=("sides", "deterministic"),
        needs=("sides",),
        source="Nicholls, Bradshaw & Mattingley (1999), Neuropsychologia 37(3), 307-314",
    ),
)
EVIDENCE = "evidence = bias + randomness[..., 1] - randomness[..., 0]"
CHOICE = (
    Mechanism(
        slot="choice",
        name="logistic",
        code=f"{EVIDENCE}\np = 1 / (1 + xp.exp(-xp.clip(evidence, -500.0, 500.0)))",
        wording=Wording(
            clause="choose the sequence that looks more random more often, the larger the difference",
            taken_for_granted=True,
        ),
        source="Luce (1959), Individual choice behavior",
    ),
    Mechanism(
        slot="choice",
        name="deterministic",
        clause="choose the sequence that looks more random, however small the difference",
        code=f"{EVIDENCE}\np = 0.5 + 0.5 * xp.sign(xp.where(xp.abs(evidence) < 1e-9, 0.0, evidence))",
        predictions=({"property": "deterministic"},),
        is_null=True,
        source=HARLESS,
    ),
)
LAPSE = (
    Mechanism(
        slot="lapse",
        name="random",
        code='p = parameters["lapse"] / 2 + (1 - parameters["lapse"]) * p',
        parameters={"lapse": uniform(0.0, 0.4, "share of choices", "lapse rate")},
        wording=Wording(clause="choose at random {lapse~}"),
        is_null=True,
        source=HARLESS,
    ),
)
