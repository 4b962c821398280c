"""A study that asks whether its theories' numbers change with people's age."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lakatos.flows.errors import StudyError
from lakatos.flows.report.report import write_report
from lakatos.flows.run.run import read_state
from lakatos.flows.run.study import load_study
from lakatos.flows.run.study_sections import EFFECT_SD, ValidationConfig
from lakatos.flows.start import run_study
from lakatos.theories.findings.verdicts.conclude import in_new_names

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "notebook"))
from small import small_study
from test_effects import N_PEOPLE, aging

STUDY = """
name = "ages"
question = "Do people wait otherwise when they are older?"
domain = "intertemporal"
seed = 1
[theories]
seeds = ["hyperbolic", "exponential"]
candidates = 4
successors = 1
draws = 128
induction = false
[design]
trials = 12
refused = "cover"
[participants]
source = "archival"
file = "answers.csv"
[participants.columns]
participant = "subject"
response = "choice"
responses = { later = 1, sooner = 0 }
attributes = ["age"]
stimulus = { amounts = ["ss_amount", "ll_amount"], delays_days = ["ss_delay", "ll_delay"] }
[stop]
cycles = 1
least_cycles = 1
[validation]
comparison_models = false
effects = "age"
effect_size = 1.0
[memory]
winners = false
"""


@pytest.mark.slow
def test_design_preregistration_verdict_and_report_speak_of_the_effect(tmp_path: Path) -> None:
    aging(0.12).to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    concluded = run_study(load_study(tmp_path / "study.toml"), tmp_path / "run", n_workers=1)
    state, trace = read_state(tmp_path / "run")
    trace.close()
    # what was promised, and frozen before the answers were released
    (chosen,) = [item.record for item in state.experiments.designs.values()]
    assert chosen.groups.startswith("Effects of age on all parameters of")
    assert "1 between-participant SD in " in chosen.groups
    (frozen,) = [item.record for item in state.experiments.preregistrations.values()]
    assert chosen.groups in frozen.analysis
    assert "when what is known is exchanged among the participants" in frozen.analysis
    # what was found
    assert state.theories.effects is not None
    found = state.theories.effects.record
    assert found.n_people == N_PEOPLE - 1
    assert in_new_names(state.theories, found.text) in concluded.text
    assert "discount_rate (discount rate k) is higher with scale(age)" in found.text
    hyperbolic = next(
        item
        for item in found.theories
        if state.theories.name(item.theory) == "Hyperbolic discounting"
    )
    shown = [effect for effect in hyperbolic.effects if effect.shown]
    assert [effect.parameter for effect in shown] == ["discount_rate"]
    medians = shown[0].medians
    assert (
        medians["with"] > 2 * medians["without"]
    )  # a standard deviation is about 11 years, each of which adds 0.12
    page = write_report(tmp_path / "run", tmp_path / "report.html").read_text()
    assert "Effects of age" in page


def test_an_effect_of_what_nobody_knows_is_refused(tmp_path: Path) -> None:
    aging(0.0).to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY.replace('effects = "age"', 'effects = "height"'))
    with pytest.raises(StudyError, match=r"validation.effects: nothing called 'height' is known"):
        load_study(tmp_path / "study.toml")
    with pytest.raises(StudyError, match="mean nothing without effects"):
        small_study(validation={"effect_size": 1.0})


def test_studies_that_ask_about_no_effect_are_written_as_before() -> None:
    written = ValidationConfig().model_dump()
    assert not {"effects", "effect_sd", "effect_size"} & set(written)
    asked = ValidationConfig(effects="age").model_dump()
    assert asked["effect_sd"] == EFFECT_SD
