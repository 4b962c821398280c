"""The library is a fold over the traces; displaced judges reach what they justified."""

from pathlib import Path

import pytest

from lakatos.memory.errors import LibraryCorruptError, ToolUnavailableError
from lakatos.memory.item import (
    Fact,
    PlanUsed,
    ToolValidated,
    ToolWithdrawn,
)
from lakatos.memory.library import (
    RECORDS,
    Library,
    Pitfall,
    library_from_bytes,
    rebuild,
)
from lakatos.memory.recall import LexicalRecall, RecallNothing, RecallSituation
from lakatos.memory.tool import draft_tool
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of
from lakatos.traces.step import Trace

JUDGE = digest_of("seat of a judge")
DATA = digest_of("scores")


def digest(record):
    return digest_of([record.kind, body_of(record)])


def fact(statement, *, subject="noise", evidence=DATA):
    return Fact(
        domain="risky",
        subject=subject,
        statement=statement,
        evidence=(evidence,),
    )


def library_of(*records):
    library = Library()
    for record in records:
        library = library.with_record(digest(record), record)
    return library


def test_contradictory_facts_come_back_flagged():
    clash = library_of(fact("it is 0.1"), fact("it is 0.2"))
    assert len(clash.contradictions()) == 1
    assert all(
        "contradicted" in item.note
        for item in LexicalRecall(clash)
        .recall(RecallSituation(domain="risky", failed="noise"))
        .lessons
    )


def test_a_displaced_judge_flags_lessons_and_takes_successes_away(study_of, shop):
    plans = [study_of("one", "a", "b"), study_of("two", "c", "d")]
    draft = draft_tool(plans[0], shop.VERBS)
    validated = ToolValidated(draft=digest(draft), name=draft.name, passed=("all",))
    uses = [
        PlanUsed(
            signature=draft.signature,
            study=str(number),
            tool=draft.name,
            success=True,
            evidence=(DATA,),
            justified_by=(JUDGE,),
        )
        for number in range(3)
    ]
    doubtful = fact("it is 0.1", evidence=JUDGE)
    library = library_of(*plans, draft, validated, *uses, doubtful)
    assert library.standing(draft.name).n_uses == 3
    fallen = {digest(item) for item in (*uses, doubtful)}

    def valid(name):
        return name not in fallen

    assert library.standing(draft.name, valid).n_uses == 0
    assert draft.name in library.offers(shop.VERBS, valid)  # what validation proved needs no judge
    assert library.doubtful(valid) == {digest(doubtful)}
    (flagged,) = (
        LexicalRecall(library, valid)
        .recall(RecallSituation(domain="risky", failed="noise"))
        .lessons
    )
    (plain,) = (
        LexicalRecall(library).recall(RecallSituation(domain="risky", failed="noise")).lessons
    )
    assert "unverified" in flagged.note
    assert flagged.relevance == pytest.approx(plain.relevance / 2)


def test_a_tool_whose_dependency_changed_is_not_offered_until_it_is_validated_again(study_of, shop):
    draft = draft_tool(study_of("one", "a", "b"), shop.VERBS)
    library = library_of(
        draft, ToolValidated(draft=digest(draft), name=draft.name, passed=("all",))
    )
    verb = shop.VERBS["draw"]
    verbs = {**shop.VERBS, "draw": type(verb)(**{**vars(verb), "version": 2})}
    assert draft.name in library.offers(shop.VERBS)
    assert library.changed_dependency(draft.name, verbs) == "draw"
    assert library.offers(verbs) == {}


def test_a_withdrawn_tool_is_kept_and_not_offered(study_of, shop):
    draft = draft_tool(study_of("one", "a", "b"), shop.VERBS)
    library = library_of(
        draft,
        ToolValidated(draft=digest(draft), name=draft.name, passed=("all",)),
        ToolWithdrawn(name=draft.name, reason="no longer wanted", until_validated=False),
    )
    assert library.offers(shop.VERBS) == {}
    assert library.standing(draft.name).reason == "no longer wanted"
    with pytest.raises(ToolUnavailableError, match="there is no learned tool"):
        library.standing("nothing")


def test_deleted_and_rebuilt_from_the_traces_it_is_the_same_byte_for_byte(tmp_path: Path, study_of):
    kept = Library()
    for number in range(2):
        trace = Trace.create(tmp_path / str(number), seed=number, types=RECORDS)
        with trace:
            source = trace.artifacts.put_json(["data", number])
            for record in (
                study_of(f"study {number}", f"a{number}", "b").model_copy(
                    update={"evidence": (source,)}
                ),
                fact(f"it is {number}", evidence=source),
                Pitfall(
                    domain="risky",
                    trigger="level",
                    mistake="add",
                    consequence="lost",
                    evidence=(source,),
                ),
            ):
                done = trace.record(
                    record, name="lesson", inputs=(source,), position={"kind": record.kind}
                )
                kept = kept.with_record(done.digest, record)
    anew = Library()
    for number in range(2):
        with Trace.open(tmp_path / str(number), RECORDS, read_only=True) as trace:
            anew = rebuild(trace.journal.events(), anew)
    assert anew.to_bytes() == kept.to_bytes()


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-20], lambda data: data.replace(b"0.1", b"0.2"), lambda data: b""]
)
def test_a_library_that_was_changed_is_refused(spoil):
    data = library_of(fact("it is 0.1")).to_bytes()
    assert library_from_bytes(data).to_bytes() == data
    with pytest.raises(LibraryCorruptError, match="the library of this run"):
        library_from_bytes(spoil(data))


def test_rare_words_weigh_more_and_nothing_is_recalled_for_nothing_in_common():
    common = [fact("about noise in choices", subject=f"level {number}") for number in range(4)]
    rare = fact("about choices of the level", subject="saliency")
    library = library_of(*common, rare)
    first = (
        LexicalRecall(library)
        .recall(RecallSituation(domain="risky", failed="saliency of choices"), most=1)
        .lessons[0]
    )
    assert first.lesson == digest(rare)
    assert (
        LexicalRecall(library).recall(RecallSituation(domain="risky", failed="xyz")).lessons == ()
    )
    assert (
        LexicalRecall(library).recall(RecallSituation(domain="learning", failed="saliency")).lessons
        == ()
    )
    assert RecallNothing().recall(RecallSituation(domain="risky", failed="saliency")).lessons == ()
    assert (
        len(
            LexicalRecall(library)
            .recall(RecallSituation(domain="risky", failed="level choices"), most=3)
            .lessons
        )
        == 3
    )
