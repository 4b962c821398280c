import pytest

from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.file import FileParticipants
from lakatos.flows.run.source import make_source
from lakatos.flows.run.study import parse_study
from lakatos.flows.run.study_sections import ParticipantsConfig


@pytest.mark.parametrize("name", SOURCES)
def test_every_listed_source_has_the_verbs_of_the_contract(name):
    for verb in ("offers", "recruit", "collect", "want", "close", "mark_released", "of_study"):
        assert callable(getattr(SOURCES[name], verb))


def test_every_key_of_a_study_s_participants_is_some_source_s():
    listed = set().union(*(source.keys for source in SOURCES.values()))
    assert listed == set(ParticipantsConfig.model_fields) - {"source"}


def test_a_source_that_is_entered_in_the_table_can_be_named_in_a_study(monkeypatch, tmp_path):
    class Neighbours(FileParticipants):
        pass

    monkeypatch.setitem(SOURCES, "neighbours", Neighbours)
    theories = {"seeds": ["tallying", "take_the_best"]}
    value = {"name": "s", "question": "?", "domain": "multiattribute", "theories": theories}
    study = parse_study(value | {"participants": {"source": "neighbours"}}, "s")
    source, hidden = make_source(study, tmp_path, None, None)
    assert isinstance(source, Neighbours)
    assert hidden is None
