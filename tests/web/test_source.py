from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.source import Waiting
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.source import WebParticipants
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.experiments.task import Trials
from lakatos.experiments.testing import KEY, OTHER_KEY, ParticipantSourceContract, preregister
from lakatos.traces.inbox import Inbox


class TestWebParticipants(ParticipantSourceContract):
    """People answer on the page and their answers arrive in the inbox, where the contract reads them."""

    @pytest.fixture
    def folder(self, tmp_path):
        return tmp_path

    @pytest.fixture
    def source(self, folder):
        return WebParticipants(
            folder,
            domain=DOMAINS["risky"],
            settings={},
            seed=3,
            page=PageSettings(access="open"),
        )

    def let_people_answer(self, source, recruitment):
        store = SessionStore(source.folder)
        rng = np.random.default_rng(8)
        for number in range(recruitment.n_participants):
            token = f"{number:043d}"
            session = store.join(token, consent="c", language="en")
            store.comprehension(session, 0, passed=True)
            for position in range(len(plan_of(session.experiment, session.place))):
                store.answer(session, position, int(rng.integers(2)), 800.0)
        store.deliver(Inbox(source.folder / "inbox.sqlite"))
        store.shut()

    def collect(self, source, design, key=KEY):
        recruitment = source.recruit(preregister(design), design, key)
        if not Inbox(source.folder / "inbox.sqlite").pending():
            self.let_people_answer(source, recruitment)
        assert source.collect(recruitment, 3) == Waiting()
        batches = [batch.json() for batch in Inbox(source.folder / "inbox.sqlite").pending()]
        lengths = [len(batch["trial"]) for batch in batches]
        return [
            Trials(
                experiment=design.name,
                stimuli=design.stimuli,
                participant=np.repeat(np.arange(len(batches)), lengths),
                trial=np.concatenate([batch["trial"] for batch in batches]),
                response=np.concatenate([batch["response"] for batch in batches]),
                count=np.ones(sum(lengths), dtype=np.int64),
                n_people=len(batches),
            )
        ]

    def test_a_key_belongs_to_one_experiment(self, source, design):
        source.recruit(preregister(design), design, KEY)
        with pytest.raises(SourceError, match="belongs to another experiment"):
            source.recruit(preregister(design), design, OTHER_KEY)

    def test_a_closed_experiment_lets_nobody_in(self, source, design):
        recruitment = source.recruit(preregister(design), design, KEY)
        store = SessionStore(source.folder)
        assert store.current() is not None
        source.close(recruitment)
        assert store.current() is None
        store.shut()


def test_a_language_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no texts in 'fr'"):
        WebParticipants(
            tmp_path, domain=DOMAINS["risky"], settings={}, page=PageSettings(language="fr")
        )


def test_page_settings_out_of_range_are_refused() -> None:
    with pytest.raises(SourceError, match="checks is -1"):
        PageSettings(checks=-1)
    with pytest.raises(SourceError, match="completion_url"):
        PageSettings(completion_url="javascript:alert(1)")
