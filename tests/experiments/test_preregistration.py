from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import PreregistrationError
from lakatos.experiments.preregistration import (
    Preregistration,
    check_preregistered,
    summarise_design,
)
from lakatos.experiments.record import PairPower
from lakatos.experiments.task import Design, Stimuli
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of, digests_in, parse_record

FIRST, SECOND = digest_of("first theory"), digest_of("second theory")


@pytest.fixture
def design():
    return Design(
        "1.1", Stimuli({"x": np.arange(4.0)}), repetitions=2, n_participants=5, random_coverage=(3,)
    )


@pytest.fixture
def preregistration(design):
    return Preregistration(
        experiment="1.1",
        design=digest_of(design_to_json(design)),
        design_summary=summarise_design(design),
        rivals={FIRST: "take the best", SECOND: "sum | product"},
        predictions=digest_of("predictions"),
        n_draws=512,
        n_participants=5,
        exclusion_rules=("Answers faster than 200 ms are left out.",),
        powers=(
            PairPower(
                first=FIRST, second=SECOND, power_first=0.93, power_second=0.97, separable=True
            ),
        ),
        analysis="Closer than two standard errors is a tie.",
        stopping_rule="fixed sample",
    )


def test_it_reads_back_from_the_journal(preregistration):
    again = parse_record(
        "preregistration", body_of(preregistration), {"preregistration": Preregistration}
    )
    assert again == preregistration


def test_the_audit_finds_all_that_it_names(preregistration):
    assert {FIRST, SECOND, preregistration.design, preregistration.predictions} <= set(
        digests_in(preregistration)
    )


def test_the_preregistered_design_is_let_through(preregistration, design):
    check_preregistered(preregistration, design)


def test_collection_without_a_preregistration_is_refused(design):
    with pytest.raises(PreregistrationError, match=r"'1\.1' has no preregistration"):
        check_preregistered(None, design)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "1.2"},
        {"repetitions": 3},
        {"stimuli": Stimuli({"x": np.arange(3.0)})},
        {"n_participants": 6},
        {"archive": "old"},
    ],
)
def test_another_design_is_refused(preregistration, design, change):
    with pytest.raises(PreregistrationError, match="Preregister this design"):
        check_preregistered(preregistration, replace(design, **change))


def test_another_number_of_people_is_refused(preregistration, design):
    changed = preregistration.model_copy(update={"n_participants": 9})
    with pytest.raises(PreregistrationError, match="plans 9 participants and its design 5"):
        check_preregistered(changed, design)
