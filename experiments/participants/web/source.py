"""People who take part on the laboratory's own page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.experiments.participants.source import (
    NewParticipants,
    Recruitment,
    SourceProfile,
    StudySettings,
    Waiting,
    check_new_people,
)
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import PageExperiment
from lakatos.experiments.participants.web.texts import Texts, merged, texts_for_domain
from lakatos.experiments.participants.web.view import consent_of
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.task import Design, Domain
from lakatos.traces.digest import Digest


class WebParticipants(NewParticipants):
    """People who are asked on the page; see `experiments.participants.source.ParticipantSource`.

    Recruiting registers the experiment in the run's collection, where the page's server, a process of its own, finds
    it. The server leaves each person's responses in the inbox, so that there is nothing to poll here.
    """

    sections: ClassVar[frozenset[str]] = frozenset(
        {"space", "exclusions", "privacy", "confirmation", "page"}
    )
    profile: ClassVar[SourceProfile] = SourceProfile(
        origin="people",
        brought_by="`lakatos collect` serves the page on which they take part",
        responds_later=True,
        one_by_one=True,
        on_page=True,
    )

    def __init__(
        self,
        folder: Path,
        *,
        domain: Domain,
        settings: Mapping[str, Any],
        seed: int = 0,
        page: PageSettings | None = None,
        texts: Mapping[str, Texts] | None = None,
        forbidden: Sequence[str] = (),
    ) -> None:
        """Make a source of people who answer on the laboratory's own page.

        Args:
            folder: Folder of the run.
            domain: Makes the stimuli that people can be asked.
            settings: Describe the design space to the domain.
            seed: Seed of the campaign; with the recruitment and a person's place it decides the order of trials.
            page: How the page treats people.
            texts: The study's own sentences by language; see `experiments.participants.web.texts.texts_for`.
            forbidden: Trials that are never shown, as conditions on their features.

        Raises:
            SourceError: The texts are not complete, or lack the language that the page shows first.
        """
        self.folder, self.domain, self.settings, self.seed = Path(folder), domain, settings, seed
        self.page, self.texts = page or PageSettings(), texts_for_domain(domain, texts)
        self.forbidden = tuple(forbidden)
        if self.page.language not in self.texts:
            raise SourceError(
                f"the page has no texts in {self.page.language!r}; there are {', '.join(self.texts)}. Give a file."
            )
        for name, condition in self.page.conditions.items():
            try:
                texts_for_domain(domain, merged(texts or {}, condition.texts))
            except SourceError as error:
                raise SourceError(f"page.conditions.{name}: {error}") from None

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Open the experiment on the page; see `ParticipantSource`."""
        check_new_people(preregistration, design, self.domain, "people on the page")
        store = SessionStore(self.folder)
        try:
            store.register(self.experiment(design, key))
        finally:
            store.shut()
        return Recruitment(key, design.name, design.n_participants)

    def experiment(self, design: Design, key: Digest) -> PageExperiment:
        """Return the page's experiment for a design, the same whenever it is made.

        Raises:
            SourceError: The page's settings do not fit the design's trials.
        """
        return PageExperiment.of(
            key,
            self.domain,
            design,
            self.seed,
            self.page,
            self.texts,
            self.settings,
            self.forbidden,
        )

    def opened(self, design: Design, key: Digest) -> PageExperiment:
        """The experiment as it was opened, with the texts of that time; made now where it is not in the collection."""
        store = SessionStore(self.folder)
        try:
            found = store.find(design.name)
        finally:
            store.shut()
        return found if found is not None and found.key == key else self.experiment(design, key)

    def consents(self, design: Design, key: Digest) -> dict[str, list[str]]:
        """Return what people agree to, in each language, with the texts with which the experiment was opened."""
        experiment = self.opened(design, key)
        return {name: consent_of(experiment, name) for name in sorted(experiment.texts)}

    def collect(self, recruitment: Recruitment, n_participants: int) -> Waiting:
        """Wait: the page's server leaves responses in the inbox by itself."""
        return Waiting()

    @classmethod
    def of_study(cls, study: StudySettings) -> Self:
        """People who take part in a study on the page."""
        return cls(
            study.folder,
            domain=study.domain,
            settings=study.space,
            seed=study.seed,
            page=PageSettings.of_study(study.page),
            texts=study.page["texts"],
            forbidden=study.forbidden,
        )

    def lets_in(self, experiment: str) -> bool:
        """Whether a study on Prolific could, by the run's books, where there are any."""
        if not (self.folder / LEDGER_FILE).exists():
            return False
        # Only a run with such books loads what speaks to the service.
        from lakatos.experiments.participants.prolific.ledger import PaymentLedger
        from lakatos.experiments.participants.prolific.recruiter import lets_in

        with PaymentLedger(self.folder / LEDGER_FILE) as ledger:
            return experiment in ledger.experiments() and lets_in(ledger.account(experiment))

    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Make places for so many people in all."""
        store = SessionStore(self.folder)
        try:
            store.want(recruitment.key, n_participants)
        finally:
            store.shut()

    def close(self, recruitment: Recruitment) -> None:
        """Let nobody new in; who is taking part may finish."""
        store = SessionStore(self.folder)
        try:
            store.close(recruitment.key)
        finally:
            store.shut()
