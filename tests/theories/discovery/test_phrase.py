"""Phrases of induced rules."""

from lakatos.theories.discovery.induction.phrase import by_rank


def test_rules_that_only_compare_name_the_number_and_not_its_logarithm() -> None:
    assert by_rank("take the row with the lower logarithm of the payoff if it rains") == (
        "take the row with the lower payoff if it rains"
    )
    assert by_rank("take the option with the higher logarithm of the delay") == (
        "take the option with the longer delay"
    )
    assert by_rank("take the row with the higher mean logarithm of the payoffs") == (
        "take the row with the higher mean logarithm of the payoffs"
    )
