"""Words and signs of pages: minus signs, changes of theories, names of options, kinds of records."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lakatos.domains import DOMAINS
from lakatos.flows.report.family_tree import origin
from lakatos.flows.report.formats import edits_in_words, in_brackets
from lakatos.flows.report.reader import option_label
from lakatos.flows.report.templating import with_minus
from lakatos.flows.report.words import _SENTENCES, kind_words
from lakatos.flows.run.summary import _frozen_score
from lakatos.theories.engine.scoring.score import ScoreEstimate


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-0.0019 nats (95% interval -0.0077 to +0.0040)", "−0.0019 nats (95% interval −0.0077 to +0.0040)"),
        ("demo-1, 2026-11-30, 10-20 and --level -3", "demo-1, 2026-11-30, 10-20 and --level −3"),
        ("model-2b from x-1.5", "model-2b from x-1.5"),
    ],
)  # fmt: skip
def test_hyphens_before_numbers_become_minus_signs(text: str, shown: str) -> None:
    assert with_minus(text) == shown


def test_changes_of_a_search_are_written_for_readers() -> None:
    assert edits_in_words("compose afresh; drop random from lapse") == (
        "new combination of mechanisms; random omitted from lapse"
    )
    assert edits_in_words("add last_choice to habit; replace sum by lexi in integration") == (
        "last choice added to habit; lexi in place of sum in integration"
    )
    assert edits_in_words("let people drop a cue from memory") == (
        "let people drop a cue from memory"
    )


def test_the_origin_of_a_theory_names_no_advocate() -> None:
    assert origin("grammar") == "found by the search over combinations of mechanisms"
    assert origin("published") == "published"


@pytest.mark.parametrize(
    ("domain", "words"), [("multiattribute", "B"), ("intertemporal", "“later”")]
)
def test_options_that_are_words_stand_in_quotes(domain: str, words: str) -> None:
    assert option_label(DOMAINS[domain], 1) == words


def test_a_prediction_of_judges_is_not_called_a_verdict() -> None:
    assert kind_words("verdict") == "judges' prediction"
    assert kind_words("concluded") == "verdict of the run"


def test_a_score_of_some_experiments_states_of_how_many() -> None:
    line = SimpleNamespace(prequential=ScoreEstimate(-0.3352, 0.01), n_prequential=1)
    assert _frozen_score(line, 2) == "-0.3352 (1 of 2)"
    assert _frozen_score(line, 1) == "-0.3352"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("archival", "existing responses of 30 participants were assigned to experiment 2.1"),
        ("web", "30 participants were recruited for experiment 2.1 (web)"),
    ],
)
def test_responses_that_there_were_before_are_assigned_and_nobody_is_recruited(
    source: str, words: str
) -> None:
    body = {"experiment": "2.1", "n_participants": 30, "source": source}
    assert _SENTENCES["recruited"](body, cast(Any, None)) == words


def test_shares_are_those_of_the_last_option_that_a_trial_offers() -> None:
    scale = DOMAINS["recognition"].space({"categories": 6})
    option = scale.last_available(11)
    assert option_label(DOMAINS["recognition"], option) == "3"
    assert DOMAINS["learning"].space({}).last_available(2) == 1


def test_intervals_of_tables_stand_in_brackets_and_words_as_they_are() -> None:
    assert in_brackets("−0.03 to 0.12") == "[−0.03, 0.12]"
    assert in_brackets("interval unknown") == "interval unknown"
