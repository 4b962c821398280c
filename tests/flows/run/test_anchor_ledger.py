"""The ledger beside an anchor file: it counts over campaigns, and one that was edited, removed or copied is found."""

from __future__ import annotations

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lakatos.flows.run.anchor_ledger import SUFFIX, AnchorLedger
from lakatos.judges.anchor import AnchorSet, check_each_once, split
from lakatos.judges.errors import AnchorError, LedgerError, VaultError
from lakatos.judges.ledger import LevelDrawn, VaultReported, level_of
from lakatos.traces.digest import digest_of
from lakatos.traces.errors import TraceError
from tests.judges.support import item


@pytest.fixture
def anchor(request: pytest.FixtureRequest) -> AnchorSet:
    """An anchor set of this test's own, since a ledger is known by its items wherever they lie."""
    return split([item(f"{request.node.name} {n}", n % 2 == 0) for n in range(40)], seed=1)


@pytest.fixture
def ledger(tmp_path, anchor: AnchorSet) -> AnchorLedger:
    return AnchorLedger.beside(tmp_path / "anchor.json", anchor)


def draw(ledger: AnchorLedger, name: str, alpha: float = 0.05, *, worth: bool = True, own=()):
    return ledger.draw(digest_of(name), alpha, lambda number, level: worth, own)


def test_levels_fall_from_one_campaign_to_the_next_and_the_same_challenge_is_one_test(ledger):
    numbers = [draw(ledger, name).number for name in ("first", "second", "first", "third")]
    assert numbers == [1, 2, 1, 3]
    assert [found.level for found in ledger.drawn()] == [level_of(0.05, n) for n in (1, 2, 3)]


def test_a_test_that_is_not_worth_it_leaves_the_ledger_as_it_is(ledger):
    assert not draw(ledger, "first", worth=False).is_spent
    assert ledger.drawn() == []
    assert draw(ledger, "second").number == 1


def test_campaigns_that_draw_at_the_same_time_wait_for_one_another(ledger):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda name: draw(ledger, str(name)), range(8)))
    assert sorted(item.number for item in found) == list(range(1, 9))


def test_another_promise_on_the_same_items_is_refused(ledger):
    draw(ledger, "first")
    with pytest.raises(LedgerError, match=r"write judges.alpha = 0.05"):
        draw(ledger, "second", alpha=0.2)


def test_a_ledger_that_was_removed_is_found_and_nothing_is_drawn(ledger):
    draw(ledger, "first")
    shutil.rmtree(ledger.folder)
    with pytest.raises(LedgerError, match="is not the ledger that these items have"):
        draw(ledger, "second")
    with pytest.raises(LedgerError, match="is not the ledger that these items have"):
        ledger.drawn()


def test_the_same_items_in_another_file_have_the_same_ledger(ledger, anchor, tmp_path):
    draw(ledger, "first")
    copy = AnchorLedger.beside(tmp_path / "copy.json", anchor)
    with pytest.raises(LedgerError, match=f"that lay in {ledger.folder}"):
        draw(copy, "second")


def test_an_older_copy_of_a_ledger_is_found(ledger, tmp_path):
    draw(ledger, "first")
    shutil.copytree(ledger.folder, tmp_path / "older")
    second = draw(ledger, "second")
    shutil.rmtree(ledger.folder)
    (tmp_path / "older").rename(ledger.folder)
    with pytest.raises(LedgerError, match="cannot be relied on: a head of event 2 was signed"):
        draw(ledger, "third")
    assert second.number == 2


def test_a_campaign_misses_what_it_drew_itself(ledger):
    own = LevelDrawn(challenge=digest_of("x"), alpha=0.05, number=7, level=0.1, is_spent=True)
    with pytest.raises(LedgerError, match="does not hold test 7"):
        draw(ledger, "first", own=[own])


def test_an_edited_ledger_is_found(ledger):
    draw(ledger, "first")
    with sqlite3.connect(ledger.folder / "journal.sqlite") as store:
        known = store.execute("SELECT type, name FROM sqlite_master WHERE sql LIKE '%event%'")
        named = {kind: name for kind, name in known.fetchall() if kind == "table"}
        table = named["table"]
        for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            store.execute(f"DROP TRIGGER {name}")
        store.execute(f"UPDATE {table} SET body = replace(body, '0.05', '0.99')")
    with pytest.raises((TraceError, LedgerError), match="was changed"):
        draw(ledger, "second")


def test_an_anchor_file_that_was_changed_has_another_ledger(ledger, tmp_path):
    draw(ledger, "first")
    other = split([item(f"other {n}", n % 2 == 0) for n in range(40)], seed=1)
    changed = AnchorLedger.beside(tmp_path / "anchor.json", other)
    assert changed.folder == ledger.folder == tmp_path / f"anchor.json{SUFFIX}"
    with pytest.raises(LedgerError, match="the anchor file beside it was changed"):
        draw(changed, "second")


def test_another_set_with_some_of_the_items_does_not_begin_to_count_anew(ledger, anchor, tmp_path):
    draw(ledger, "first")
    confirm = anchor.parts["confirm"][1:]
    fewer = AnchorSet({**anchor.parts, "confirm": confirm})
    n_shared = len(confirm) + len(anchor.parts["vault"])
    with pytest.raises(LedgerError, match=f"labels of {n_shared} comparisons of fewer.json"):
        draw(AnchorLedger.beside(tmp_path / "fewer.json", fewer), "second")
    # Items of dev are free for all.
    other = split([item(f"elsewhere {n}", n % 2 == 0) for n in range(40)], seed=1)
    own_dev = AnchorSet({**other.parts, "dev": anchor.parts["dev"]})
    assert draw(AnchorLedger.beside(tmp_path / "other.json", own_dev), "second").number == 1


def reworded(anchor: AnchorSet, **changes) -> AnchorSet:
    """The set with other words in each of its items."""
    parts = {
        part: tuple(replace(item, **changes) for item in items)
        for part, items in anchor.parts.items()
    }
    return AnchorSet(parts)


WORDS = {
    "provenance": {"provenance": "simulated, as was said before"},
    "strata": {"strata": {"origin": "human", "quality": "good"}},
    "problems": {"problems": ("another name",)},
    "people": {"people": ("another group",)},
}


@pytest.mark.parametrize("name", WORDS)
def test_other_words_for_the_same_comparisons_do_not_begin_to_count_anew(
    name, ledger, anchor, tmp_path
):
    assert draw(ledger, "first").number == 1
    other = reworded(anchor, **WORDS[name])
    same_file = AnchorLedger.beside(tmp_path / "anchor.json", other)
    assert draw(same_file, "second").number == 2
    with pytest.raises(LedgerError, match=f"that lay in {ledger.folder}"):
        draw(AnchorLedger.beside(tmp_path / "copy.json", other), "third")


def test_other_texts_and_features_of_the_same_comparisons_do_not_begin_to_count_anew(
    ledger, anchor, tmp_path
):
    draw(ledger, "first")
    parts = {
        part: tuple(
            replace(
                item,
                submission=replace(
                    item.submission, texts={"claim": "people add"}, features={"more": 1.0}
                ),
            )
            for item in items
        )
        for part, items in anchor.parts.items()
    }
    with pytest.raises(LedgerError, match="that lay in"):
        draw(AnchorLedger.beside(tmp_path / "copy.json", AnchorSet(parts)), "second")


def test_one_comparison_in_other_words_among_new_ones_is_known_again(ledger, anchor, tmp_path):
    draw(ledger, "first")
    other = split([item(f"new {n}", n % 2 == 0) for n in range(40)], seed=1)
    known = replace(anchor.parts["confirm"][0], provenance="found in a drawer")
    mixed = AnchorSet({**other.parts, "confirm": (known, *other.parts["confirm"])})
    with pytest.raises(
        LedgerError, match=r"labels of 1 comparisons of mixed\.json were read before"
    ):
        draw(AnchorLedger.beside(tmp_path / "mixed.json", mixed), "second")


def test_a_ledger_of_an_earlier_version_goes_on(anchor, tmp_path):
    now = AnchorLedger.beside(tmp_path / "anchor.json", anchor)
    before = replace(now, confirm=now.version, items=now.versions)
    assert draw(before, "first").number == 1
    assert draw(now, "second").number == 2
    assert draw(now, "third").number == 3
    copy = AnchorLedger.beside(tmp_path / "copy.json", anchor)
    with pytest.raises(LedgerError, match="that lay in"):
        draw(copy, "fourth")


def test_a_comparison_in_two_wordings_is_there_twice(anchor):
    first = anchor.parts["dev"][0]
    with pytest.raises(AnchorError, match="is there 2 times"):
        check_each_once([first, replace(first, provenance="another word")])
    check_each_once([first, replace(first, label=not first.label)])


def test_the_vault_opens_once_and_what_was_found_is_told_again(ledger, anchor):
    asked = []

    def report(items):
        asked.append(len(items))
        return VaultReported(campaign="run", told={"program": "right on 7 of 8"})

    assert ledger.open_vault(anchor, [digest_of("judge")], report).campaign == "run"
    assert asked == [len(anchor.parts["vault"])]
    with pytest.raises(VaultError, match=r"(?s)was opened before.*program: right on 7 of 8"):
        ledger.open_vault(anchor, [digest_of("other")], report)
    assert len(asked) == 1
    assert draw(ledger, "first").number == 1
