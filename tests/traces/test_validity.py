import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.traces.digest import digest_of
from lakatos.traces.journal import Event
from lakatos.traces.validity import Validity


def name(number):
    return digest_of({"number": number})


def event(number, inputs=(), kind="noted", **body):
    digest = name(number)
    return Event(
        number, "", kind, digest, f"step {number}", {}, 1, tuple(inputs), body, digest, "", digest
    )


def tombstone(number, target, inputs=()):
    return event(number, inputs, "tombstone", target=target, reason="withdrawn")


@pytest.fixture
def diamond():
    """1 <- 2, 1 <- 3, (2, 3) <- 4, 5 alone."""
    return Validity(
        [
            event(1),
            event(2, [name(1)]),
            event(3, [name(1)]),
            event(4, [name(2), name(3)]),
            event(5),
        ],
    )


def held(validity):
    return {number for number in range(1, 6) if validity.valid(name(number))}


def test_erasure_reaches_everything_downstream_and_nothing_else(diamond):
    assert held(diamond) == {1, 2, 3, 4, 5}
    diamond.add(tombstone(6, name(2)))
    assert held(diamond) == {1, 3, 5}
    assert diamond.valid(name(6))


def test_what_is_derived_from_something_erased_never_holds(diamond):
    diamond.add(tombstone(6, name(1), inputs=[name(1)]))
    diamond.add(event(7, [name(4)]))
    assert not diamond.valid(name(7))
    assert diamond.valid(name(6))


def test_the_explanation_leads_to_the_tombstone(diamond):
    diamond.add(tombstone(6, name(1)))
    links = diamond.explain(name(4))
    assert [link.digest for link in links] == [name(4), name(2), name(1)]
    assert links[-1].problem == "was erased: withdrawn"
    assert diamond.explain(name(5)) == []


def test_the_unknown_does_not_hold():
    validity = Validity([event(1, [name(0)])])
    assert not validity.valid(name(1))
    assert not validity.valid(name(9))
    assert "is unknown" in validity.explain(name(1))[-1].problem


@pytest.mark.parametrize("roots", [{name(0)}, lambda digest: digest == name(0)])
def test_a_declared_root_holds_until_it_is_erased(roots):
    validity = Validity([event(1, [name(0)])], roots=roots)
    assert validity.valid(name(0))
    assert validity.valid(name(1))
    validity.add(tombstone(2, name(0)))
    assert not validity.valid(name(0))
    assert not validity.valid(name(1))


def test_an_act_stays_done_whatever_becomes_of_its_evidence():
    validity = Validity(
        [event(1), event(2, [name(1)], "asked"), event(3, [name(1), name(2)])], acts={"asked"}
    )
    validity.add(tombstone(4, name(1)))
    assert [validity.valid(name(number)) for number in (1, 2, 3)] == [False, True, False]
    validity.add(event(5, [name(2)]))
    assert validity.valid(name(5))
    validity.add(tombstone(6, name(2)))
    assert not validity.valid(name(2))
    assert not validity.valid(name(5))


def test_downstream_is_everything_derived(diamond):
    assert diamond.downstream(name(1)) == [name(2), name(3), name(4)]
    assert diamond.downstream(name(4)) == []


def test_records_that_cite_each_other_in_a_circle_do_not_hold():
    validity = Validity([event(1, [name(2)]), event(2, [name(1)])])
    assert not validity.valid(name(1))
    assert validity.explain(name(1))[0].problem == "cites itself through its inputs"


def test_a_long_chain_needs_no_recursion():
    validity = Validity(
        [event(0), *(event(number, [name(number - 1)]) for number in range(1, 20_000))]
    )
    validity.add(tombstone(20_000, name(0)))
    assert not validity.valid(name(19_999))
    assert len(validity.explain(name(19_999))) == 20_000


@pytest.mark.slow
@given(st.data())
def test_validity_kept_up_to_date_equals_validity_by_definition(data):
    n_records = data.draw(st.integers(1, 12))
    inputs = {
        number: data.draw(
            st.lists(
                st.integers(0, n_records).filter(lambda other, n=number: other != n), max_size=3
            )
        )
        for number in range(1, n_records + 1)
    }
    erased = data.draw(st.sets(st.integers(0, n_records), max_size=3))
    events = [event(number, map(name, cited)) for number, cited in inputs.items()]
    events += [tombstone(100 + number, name(number)) for number in erased]
    validity = Validity(data.draw(st.permutations(events)), roots={name(0)})

    holds = {0} - erased
    while more := {
        n for n, cited in inputs.items() if n not in erased | holds and holds.issuperset(cited)
    }:
        holds |= more
    for number in range(n_records + 1):
        assert validity.valid(name(number)) == (number in holds)
        links = validity.explain(name(number))
        assert bool(links) == (number not in holds)
        if number not in holds:
            assert links[0].digest == name(number)
