"""Discovery of new theories: search over a grammar, induction of rules, diagnosis of misfit, and rivals."""
