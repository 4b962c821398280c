"""Published theories of choice between rated products, as compositions of mechanisms.

Every mechanism carries its own citation; a theory's is the comment above it where it goes beyond them.
"""

from __future__ import annotations

from lakatos.theories.language.grammar import Composition


def _seed(
    title: str, *, lapse: str = "random", **slots: str | tuple[str, ...]
) -> tuple[str, Composition]:
    """Weighted additive with other mechanisms in the slots named."""
    names: dict[str, str | tuple[str, ...]] = {
        "utility": "linear",
        "comparison": "difference",
        "weight": "validity",
        "integration": "sum",
        "choice": "logistic",
    }
    chosen = names | slots | {"lapse": lapse}
    return title, Composition.of({slot: name for slot, name in chosen.items() if name})


SEEDS = {
    # Gigerenzer & Goldstein (1996), Psychological Review 103(4), 650-669.
    "take_the_best": _seed(
        "Take the best", comparison="direction", integration="one_reason", choice="deterministic"
    ),
    # Dawes (1979), American Psychologist 34(7), 571-582.
    "tallying": _seed("Tallying", comparison="direction", weight="equal", choice="deterministic"),
    # Payne, Bettman & Johnson (1993), The Adaptive Decision Maker.
    "weighted_additive": _seed("Weighted additive"),
    # Einhorn & Hogarth (1975), Organizational Behavior and Human Performance 13(2), 171-192.
    "equal_weights": _seed("Equal weights", weight="equal"),
    # Keeney & Raiffa (1976), Decisions with Multiple Objectives.
    "diminishing_returns": _seed(
        "Weighted additive with diminishing returns", utility="diminishing"
    ),
    # Simon (1955), Quarterly Journal of Economics 69(1), 99-118.
    "satisficing": _seed("Satisficing weighted additive", utility="satisficing"),
    # Katsikopoulos & Martignon (2006), Journal of Mathematical Psychology 50(5), 488-494.
    "naive_bayes": _seed(
        "Naive Bayes", comparison="direction", weight="log_odds", choice="calibrated"
    ),
    # Lee & Cummins (2004), Psychonomic Bulletin & Review 11(2), 343-352.
    "evidence_accumulation": _seed(
        "Evidence accumulation to a threshold",
        comparison="direction",
        weight="log_odds",
        integration="threshold",
        choice="deterministic",
    ),
    # Nosofsky & Palmeri (1997), Psychological Review 104(2), 266-300; Feller (1968), section XIV.2.
    "random_walk": _seed(
        "Random walk between two bounds",
        comparison="direction",
        integration="balance",
        choice="random_walk",
    ),
    # Juslin & Persson (2002), Cognitive Science 26(5), 563-607; Nosofsky & Bergert (2007), JEP: LMC 33(6), 999-1019.
    "exemplar": _seed("Exemplar-based", integration="exemplar"),
    # Tversky (1972), Psychological Review 79(4), 281-299: aspects are rating points, drawn by validity.
    "elimination_by_aspects": _seed(
        "Elimination by aspects", integration="balance", choice="first_reason_drawn"
    ),
    # Gigerenzer & Goldstein (1996): cues are looked up in random order until one differs.
    "minimalist": _seed(
        "Minimalist",
        comparison="direction",
        weight="equal",
        integration="balance",
        choice="first_reason_drawn",
    ),
    # Bergert & Nosofsky (2007), JEP: LMC 33(1), 107-129: cues are looked up in an order drawn by their weights.
    "probabilistic_take_the_best": _seed(
        "Probabilistic take the best",
        comparison="direction",
        weight="power",
        integration="balance",
        choice="first_reason_drawn",
    ),
    # Dieckmann & Rieskamp (2007), Memory & Cognition 35(7), 1801-1813.
    "take_two": _seed(
        "Take two", comparison="direction", integration="two_reasons", choice="deterministic"
    ),
    # Tversky (1969), Psychological Review 76(1), 31-48.
    "lexicographic_semiorder": _seed(
        "Lexicographic semiorder",
        comparison="just_noticeable",
        integration="one_reason",
        choice="deterministic",
    ),
    # Tversky (1969), Psychological Review 76(1), 31-48.
    "additive_difference": _seed("Additive difference", comparison="compressed"),
    # Dhami (2003), Psychological Science 14(2), 175-180: some cues are searched for a critical value.
    "matching_heuristic": _seed(
        "Matching heuristic",
        utility="satisficing",
        selection="best_few",
        integration="one_reason",
        choice="deterministic",
    ),
    # Montgomery (1983), Advances in Psychology 14, 343-369.
    "dominance": _seed(
        "Dominance, or else a guess",
        integration="nothing",
        accent="dominance",
        choice="deterministic",
    ),
    # Wald (1945), Annals of Mathematics 46(2), 265-280.
    "maximin": _seed("Best worst rating", integration="nothing", accent="worst_rating"),
    # Einhorn (1970), Psychological Bulletin 73(3), 221-230.
    "conjunctive": _seed("Conjunctive", integration="nothing", accent="veto"),
    # Stewart, Chater & Brown (2006), Cognitive Psychology 53(1), 1-26.
    "decision_by_sampling": _seed("Decision by sampling", utility="rank_sampled"),
    # Soltani, De Martino & Camerer (2012), PLoS Computational Biology 8(7), e1002607.
    "range_normalisation": _seed("Range normalisation", utility="range_normalised"),
    # Louie, Khaw & Glimcher (2013), PNAS 110(15), 6139-6144.
    "divisive_normalisation": _seed("Divisive normalisation", comparison="divisive"),
    # Scheibehenne, Rieskamp & Wagenmakers (2013), Psychological Review 120(1), 39-64.
    "toolbox": _seed("Toolbox of strategies", other=("best_reason", "tallying")),
    # Rieskamp & Otto (2006), JEP: General 135(2), 207-236.
    "strategy_mixture": _seed("Strategy mixture across trials", other="sometimes_best_reason"),
    # Coombs (1964), A Theory of Data.
    "ideal_point": _seed("Ideal point", utility="ideal_point"),
    # Green & Srinivasan (1978), Journal of Consumer Research 5(2), 103-123.
    "general_additive": _seed("General additive", utility="part_worths", weight="free_ranks"),
    "random": ("Guessing", _seed("", weight="equal", choice="guessing", lapse="")[1]),
}
