"""Whether the leading theory may hold a response for each trial: no check excludes it where there are few trials."""

from __future__ import annotations

from collections.abc import Iterable

from lakatos.experiments.participants.table import get_trials
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.flows.stages.revise import INDUCTION
from lakatos.memory.winner import LIBRARY
from lakatos.theories.discovery.condition_search import CONDITIONS
from lakatos.theories.engine.checks.memorised import distinct_trials, least_trials
from lakatos.theories.engine.checks.naming import PUBLISHED
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest

LABORATORY = (PUBLISHED, "grammar", INDUCTION, CONDITIONS)
"""Authors of theories that the laboratory holds or composes itself."""
LANGUAGE_MODEL = "language model"
"""Beginning of the author of a theory that a model wrote, after the first responses."""


def could_have_read(author: str, *, is_archive: bool) -> bool:
    """Whether an author outside the laboratory could have read responses before writing a theory.

    Args:
        author: As the record of the theory's check names it.
        is_archive: Whether the responses existed before the run.
    """
    writer = author.removeprefix(LIBRARY)
    is_own = writer.partition(",")[0] in LABORATORY
    return not is_own and (is_archive or writer.startswith(LANGUAGE_MODEL))


def say_of_memorising(
    author: str, tables: Iterable[Digest], artifacts: ArtifactStore, config: CampaignConfig
) -> list[str]:
    """The sentence about a leading theory that may hold the responses themselves; none where that is excluded.

    Args:
        author: Author of the leading theory.
        tables: Artifacts with the responses on whose trials memorising is measured: not the sealed ones.
        artifacts: Store in which they are.
        config: The study.
    """
    if not could_have_read(author, is_archive=config.source.is_archive):
        return []
    domain = domain_of(config)
    n = distinct_trials(domain, [get_trials(artifacts, table).stimuli for table in tables])
    if n >= (least := least_trials(domain)):
        return []
    return [
        "The author of the leading theory could have read the responses, and it may hold a response for each of the "
        f"{n} distinct presented trials: memorising is measured from {least} distinct trials on."
    ]
