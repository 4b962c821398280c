"""Labels exchanged among people say whether groups differ, at the rate that is promised."""

from __future__ import annotations

from lakatos.theories.differences.group_difference import MedianPerson, ParameterDifference


def test_a_difference_is_told_with_medians_and_intervals() -> None:
    item = ParameterDifference(
        parameter="rate",
        unit="per day",
        is_ratio=True,
        medians={"a": MedianPerson(0.05, (0.04, 0.07)), "b": MedianPerson(0.01, (0.008, 0.02))},
        p=0.0005,
        differences={("a", "b"): MedianPerson(0.2, (0.1, 0.4))},
    )
    assert item.differs
    assert item.to_text() == (
        "rate has the median per day 0.05 (0.04 to 0.07) where it is a, 0.01 (0.008 to 0.02) where it is b; "
        "that of b is 0.2 (0.1 to 0.4) times that of a (p < 0.001)"
    )
