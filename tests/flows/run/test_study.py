"""Study files: what they may say, and one line that says what they may not."""

import json
import re
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES
from lakatos.experiments.outcomes import lacking_inputs
from lakatos.flows.errors import FormerNameWarning, StudyError
from lakatos.flows.operations.carry import read_study
from lakatos.flows.run.gone_keys import RENAMED, with_former_names, with_present_names
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.study import CampaignConfig, json_schema, load_study, parse_study
from lakatos.flows.run.study_sections import StopConfig

STUDY = """
name = "demo"
question = "Which rule do people follow?"
domain = "multiattribute"

[theories]
seeds = ["weighted_additive", "take_the_best"]

[participants]
source = "simulated"
theory = "tallying"
"""
SPACE = "[space]\nlevels = [0, 1]\nvalidities = [0.8, 0.7]\n"
MISSING = object()
RULE = '''"""First: people take the first product."""
PARAMETERS = {}


def choose(parameters, trials, xp):
    return 0.1 + xp.zeros((1, len(trials["rating_max"])))
'''


def changed(**changes):
    """The study with values put at dotted keys (``__`` for a dot), or taken away."""
    value = tomllib.loads(STUDY)
    for key, new in changes.items():
        *sections, last = key.split("__")
        place = value
        for section in sections:
            place = place.setdefault(section, {})
        if new is MISSING:
            del place[last]
        else:
            place[last] = deepcopy(new)
    return value


def archive_of(domain: str) -> str:
    return next(name for name, reader in ARCHIVES.items() if reader.domain == domain)


def test_a_short_study_is_complete_with_defaults(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY + SPACE)
    study = load_study(path)
    assert study.theories.seeds == ("weighted_additive", "take_the_best")
    assert (study.design.trials, study.stop.cycles, study.validation.folds) == (24, 5, 0)
    assert study.theories.draws == 512


def test_a_study_written_out_reads_back_as_itself_with_the_same_digest():
    study = parse_study(changed(), "s")
    again = parse_study(json.loads(study.model_dump_json()), "s")
    assert again == study
    assert again.digest == study.digest


def test_studies_that_differ_have_different_digests():
    assert parse_study(changed(), "s").digest != parse_study(changed(seed=2), "s").digest


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        # Unknown keys, with the nearest known one.
        ({"qestion": "?"}, r"unknown key 'qestion'; did you mean 'question'\?"),
        ({"design__trails": 3}, r"unknown key 'design.trails'; did you mean 'trials'\?"),
        (
            {"participants": {"source": "archival", "file": "a.csv", "columns": {"respons": "x"}}},
            r"unknown key 'participants.columns.respons'; did you mean 'response'\?",
        ),
        (
            {"stop__xyzzy": 3},
            "unknown key 'stop.xyzzy'; known here: cycles, least_cycles, patience",
        ),
        # Missing ones and wrong types.
        ({"question": MISSING}, "question: Field required"),
        ({"theories": MISSING}, "theories: Field required"),
        ({"design__trials": "many"}, "design.trials: Input should be a valid integer"),
        ({"design__trials": 2.5}, "design.trials: Input should be a valid integer"),
        ({"theories__seeds": "random"}, "theories.seeds: Input should be a valid tuple"),
        ({"theories": 3}, "theories: Input should be a valid dictionary"),
        ({"name": "no spaces"}, "name: String should match pattern"),
        (
            {"participants__source": "psychics"},
            r"participants.source: there is no source 'psychics'\. Known: simulated, archival, web, file, lang",
        ),
        # Out of range.
        (
            {"theories__seeds": ["random"]},
            "theories: name at least two theories as seeds, or give programs",
        ),
        ({"theories__programs": ["x = 1"]}, "theories: programs.0: the source has no claim"),
        ({"theories__files": ["a.py"]}, "theories: files are read with a study file only"),
        ({"participants__program": RULE}, "needs the key 'theory', or 'program', and not both"),
        (
            {"participants__theory": "", "participants__program": "def"},
            "participants: program: the source does not",
        ),
        (
            {
                "participants__theory": "",
                "participants__program": RULE,
                "participants__mechanisms": {"choice": ["x"]},
            },
            "mechanisms replace those of a published theory",
        ),
        (
            {"participants__theory": "", "participants__program": RULE, "validation__folds": 3},
            "sealed trials, sealed people and folds need an archival source",
        ),
        ({"theories__seeds": ["random", "random"]}, "the seed 'random' is named twice"),
        ({"theories__draws": 500}, "theories: draws must be a power of two, not 500"),
        ({"theories__draws": 16}, "theories.draws: Input should be greater than or equal to 32"),
        (
            {"design__participants": 1},
            "design.participants: .* at least 2; give 0 to have the number found",
        ),
        ({"design__power": 1.0}, "design.power: .* less than 1"),
        ({"design__power": float("nan")}, "design.power: .* finite"),
        ({"baselines": {"x": float("inf")}}, "baselines.x: .* finite"),
        ({"validation__sealed_share": 1.0}, "validation.sealed_share: .* less than 1"),
        ({"seed": -1}, "seed: .* greater than or equal to 0"),
        # Names that do not exist.
        (
            {"domain": "multiatribute"},
            r"no domain 'multiatribute'; did you mean 'multiattribute'\? Known: ",
        ),
        (
            {"theories__seeds": ["talying", "random"]},
            r"no theory 'talying'; did you mean 'tallying'\? Known: take_the_best, ",
        ),
        ({"participants__theory": "zzz"}, r"no theory 'zzz'\. Known: take_the_best"),
        (
            {"participants__theory": ""},
            "participants: the source 'simulated' needs the key 'theory'",
        ),
        (
            {"participants": {"source": "archival"}},
            "participants: the source 'archival' needs the key 'archive'",
        ),
        ({"participants": {"source": "archival", "archive": "zzz"}}, r"no archive 'zzz'\. Known: "),
        (
            {
                "participants": {"source": "archival", "archive": "allais"},
                "exclusions": {"one_side_above": 0.9},
            },
            "exclusions need newly recruited participants",
        ),
        (
            {
                "participants": {"source": "archival", "archive": "allais"},
                "confirmation": {"participants": 20},
            },
            "a confirmation needs new people",
        ),
        (
            {
                "participants": {"source": "archival", "archive": "allais"},
                "design__stopping": {"rule": "bayes_factor"},
            },
            "published responses come all at once",
        ),
        # Settings that mean nothing for the source.
        (
            {"participants": {"source": "web", "dropouts": 0.1}},
            "dropouts means nothing where the source is 'web', only where it is 'simulated'; remove it",
        ),
        (
            {
                "participants": {"source": "archival", "archive": archive_of("multiattribute")},
                "page": {"checks": 3},
            },
            "page means nothing where the source is 'archival', only where it is 'web' or 'language_model'; remove it",
        ),
        (
            {
                "participants": {"source": "archival", "archive": archive_of("multiattribute")},
                "space": {"levels": [0, 1]},
            },
            "space means nothing where the source is 'archival'",
        ),
        (
            {"privacy": {"responses_days": 9}},
            "privacy means nothing where .*, only where it is 'web' or 'file'",
        ),
        (
            {"participants__archive": "allais"},
            "archive means nothing where the source is 'simulated'",
        ),
        (
            {"exclusions": {"median_time_belw_ms": 300}},
            "unknown key .*did you mean 'median_time_below_ms'",
        ),
        (
            {"exclusions": {"one_side_above": 1.5}},
            "exclusions.one_side_above: Input should be less than 1",
        ),
        (
            {"confirmation": {"participants": 1}},
            "differences between people need at least 2; give 0 for no confirmation",
        ),
        ({"page": {"checks": -1}}, "page.checks: Input should be greater than or equal to 0"),
        (
            {"privacy": {"responses_days": -1}},
            "privacy.responses_days: Input should be greater than or equal to 0",
        ),
        (
            {"participants__mechanisms": {"choise": ["logistic"]}},
            "participants.mechanisms: .* has no slot choise",
        ),
        (
            {"participants__mechanisms": {"choice": ["logistc"]}},
            "participants.mechanisms: .* no mechanism 'logistc' in slot 'choice'; it has: logistic, deterministic",
        ),
        # What does not go together.
        (
            {"participants": {"source": "archival", "archive": archive_of("risky")}},
            "is of the domain 'risky', not 'multiattribute'",
        ),
        (
            {"validation__folds": 3},
            "sealed trials, sealed people and folds need an archival source",
        ),
        (
            {"validation__sealed_share": 0.2},
            "sealed trials, sealed people and folds need an archival source",
        ),
    ],
)
def test_what_a_study_cannot_say_is_refused_in_one_line(changes, message):
    with pytest.raises(StudyError, match=message) as caught:
        parse_study(changed(**changes), "demo.toml")
    text = str(caught.value)
    assert text.startswith("the study demo.toml: ")
    assert "\n" not in text
    assert not re.search(r"[.?!]\.$|\.\.", text)


@pytest.mark.parametrize("domain", FAMILIES)
def test_every_published_theory_of_a_domain_can_be_a_seed(domain):
    closed = lacking_inputs(DOMAINS[domain], {})
    names = list(FAMILIES[domain].without(closed).seeds)
    study = parse_study(
        changed(domain=domain, theories__seeds=names, participants__theory=names[0]), "s"
    )
    assert study.theories.seeds == tuple(names)


def test_theories_of_cues_are_refused_for_a_task_without_cues():
    seeds = {"theories__seeds": ["rlwm", "random"], "participants__theory": "rescorla_wagner"}
    with pytest.raises(
        StudyError, match=r"theories.seeds: 'rlwm' needs another task: its steps have no cues"
    ):
        parse_study(changed(domain="learning", **seeds), "s")
    study = parse_study(changed(domain="learning", space={"n_cues": 3}, **seeds), "s")
    assert set(study.closed_inputs) == {"go"}


@pytest.mark.parametrize("archive", ARCHIVES)
def test_every_archive_can_be_studied_in_its_own_domain(archive):
    domain = ARCHIVES[archive].domain
    people = {"source": "archival", "archive": archive}
    names = list(FAMILIES[domain].seeds)[:2]
    study = parse_study(changed(domain=domain, theories__seeds=names, participants=people), "s")
    assert study.participants.archive == archive


@given(st.integers(-10, 100_000))
def test_draws_are_the_powers_of_two_in_range(draws):
    allowed = {2**exponent for exponent in range(5, 17)}
    if draws in allowed:
        assert parse_study(changed(theories__draws=draws), "s").theories.draws == draws
    else:
        with pytest.raises(StudyError, match="draws"):
            parse_study(changed(theories__draws=draws), "s")


class TestFiles:
    def test_theories_in_files_beside_the_study_become_part_of_it(self, tmp_path):
        (tmp_path / "rule.py").write_text(RULE)
        text = STUDY.replace('"take_the_best"]', '"take_the_best"]\nfiles = ["rule.py"]')
        path = tmp_path / "study.toml"
        path.write_text(text.replace('theory = "tallying"', 'program_file = "rule.py"') + SPACE)
        study = load_study(path)
        assert study.theories.programs == (RULE,)
        assert (study.participants.program, study.participants.theory) == (RULE, "")
        (tmp_path / "rule.py").unlink()
        assert parse_study(json.loads(study.model_dump_json()), "s") == study

    @pytest.mark.parametrize("key", ["theories.files", "participants.program_file"])
    def test_a_missing_theory_is_named_with_its_key(self, tmp_path, key):
        section, name = key.split(".")
        value = f'{name} = ["gone.py"]' if name == "files" else f'{name} = "gone.py"'
        path = tmp_path / "study.toml"
        path.write_text(STUDY.replace(f"[{section}]", f"[{section}]\n{value}"))
        with pytest.raises(
            StudyError, match=f"{key}: cannot read .*gone.py: there is no such file"
        ):
            load_study(path)

    def test_a_missing_file_says_what_to_give(self, tmp_path):
        with pytest.raises(
            StudyError,
            match=r"cannot read the study .*no\.toml: No such file.* such as studies/demo",
        ):
            load_study(tmp_path / "no.toml")

    def test_a_folder_is_no_study(self, tmp_path):
        with pytest.raises(StudyError, match="cannot read the study"):
            load_study(tmp_path)

    def test_a_file_that_is_not_toml_says_where(self, tmp_path):
        path = tmp_path / "bad.toml"
        path.write_text("name = \n")
        with pytest.raises(StudyError, match=r"bad\.toml is not valid TOML: .*line 1"):
            load_study(path)

    @pytest.mark.parametrize(
        ("domain", "space", "words"),
        [
            ("sequences", "alphabet = 'HH'", "alphabet of the sequences domain is 'HH'; give 2 to"),
            ("perception", "strengths = [-0.5, 1]", "give numbers from 0 to 1"),
            ("stopping", "most = 1", "setting most is 1; give 2 to 1000"),
            ("search", "length = 1", "setting length is 1; give 2 to 100"),
            ("recognition", "categories = 1", "setting categories is 1; give 2 to 10"),
        ],
    )
    def test_a_space_without_trials_is_refused_with_its_setting(
        self, domain, space, words, tmp_path
    ):
        path = tmp_path / "space.toml"
        first, second = list(FAMILIES[domain].seeds)[:2]
        path.write_text(
            f"name = 's'\nquestion = 'q'\ndomain = '{domain}'\n[theories]\nseeds = ['{first}', '{second}']\n"
            f"[participants]\nsource = 'simulated'\ntheory = '{first}'\n[space]\n{space}\n"
        )
        with pytest.raises(StudyError, match=f"space.toml: space: .*{words}"):
            load_study(path)

    def test_a_file_in_another_encoding_is_refused(self, tmp_path):
        path = tmp_path / "latin.toml"
        path.write_bytes("name = 'é'".encode("latin-1"))
        with pytest.raises(StudyError, match="is not UTF-8 text"):
            load_study(path)


def test_the_schema_describes_every_section_and_is_json():
    schema = json.loads(json.dumps(json_schema()))
    assert set(schema["properties"]) == set(CampaignConfig.model_fields)
    assert schema["required"] == ["name", "question", "domain", "theories", "participants"]


def test_studies_in_journals_of_earlier_versions_are_read():
    study = parse_study(changed(), "demo")
    value = study.model_dump(mode="json")
    for section in ("exclusions", "confirmation", "page", "privacy"):
        del value[section]
    value["validation"]["fold"] = -1
    assert CampaignConfig.model_validate(value) == study


FORMER_KEYS = [
    ("exclusions", "fast_answers_above", "fast_responses_above", 0.2),
    ("exclusions", "fast_answer_ms", "fast_response_ms", 150.0),
    ("exclusions", "missing_answers_above", "missing_responses_above", 0.2),
    ("judges", "asking", "testing_cost", 30.0),
    ("privacy", "answers_days", "responses_days", 40),
    ("validation", "company", "comparison_models", False),
    ("validation", "sealed_people", "sealed_participants", 0.2),
]


def test_every_renamed_key_is_tried():
    tried = {section: {} for section in RENAMED}
    for section, former, present, _ in FORMER_KEYS:
        tried[section][former] = present
    assert tried == RENAMED


@pytest.mark.parametrize(("section", "former", "present", "value"), FORMER_KEYS)
def test_a_former_key_is_read_and_its_present_name_stated(section, former, present, value):
    renamed = []
    old = with_present_names({section: {former: value}, "name": "demo"}, renamed.append)
    assert old == {section: {present: value}, "name": "demo"}
    assert renamed == [f"The key {section}.{former} is now called {section}.{present}."]
    assert with_former_names(old) == {section: {former: value}, "name": "demo"}


def test_a_study_with_former_keys_is_the_same_study_with_one_warning_for_each():
    old = changed(validation={"company": False}, judges={"asking": 30.0})
    new = changed(validation={"comparison_models": False}, judges={"testing_cost": 30.0})
    with pytest.warns(FormerNameWarning) as warned:
        read = parse_study(old, "here")
    assert len(warned) == 2
    assert read == parse_study(new, "here") == CampaignConfig.model_validate(old)


def test_the_identity_of_a_study_keeps_former_keys():
    """Random numbers follow from the identity, so that runs of earlier versions stay what they were."""
    own = parse_study(changed(judges={"testing_cost": 30.0}), "here").identity
    assert own["judges"]["asking"] == 30
    assert "testing_cost" not in own["judges"]
    assert CampaignConfig.model_validate(own).judges.testing_cost == 30


def test_a_key_under_both_of_its_names_is_refused():
    both = changed(validation={"company": False, "comparison_models": False})
    with pytest.raises(StudyError, match=r"former name of validation\.comparison_models; remove"):
        parse_study(both, "here")


def test_a_study_that_moves_trials_between_levels_is_refused_and_one_in_an_old_journal_is_read():
    asking = changed(design={"continuous": True})
    with pytest.raises(
        StudyError, match=r"design\.continuous = True: .* list closer levels .*remove design\.cont"
    ):
        parse_study(asking, "here")
    for value in (asking, changed(design={"continuous": False})):
        assert CampaignConfig.model_validate(value) == parse_study(changed(), "here")
    assert parse_study(changed(design={"continuous": False}), "h") == parse_study(changed(), "h")


def test_judges_that_take_seats_need_one_anchor_set_and_others_need_none(tmp_path):
    for judges, message in (
        ({"panel": "evolving"}, "'evolving' needs settled comparisons"),
        (
            {"panel": "frozen", "items": 60, "anchor": "a.json"},
            "'frozen' needs settled comparisons",
        ),
        ({"panel": "frozen", "items": 12}, "12 items are too few .* at least 40"),
        ({"panel": "frozen", "items": 40, "alpha": 1e-6}, "of level 6.1e-07; at least 66"),
        ({"tier": "working"}, r"judges\.tier = 'working': .* remove judges\.tier"),
        ({"rubric": True}, r"rubrics are not rewritten any more.* remove judges\.rubric"),
        ({"refining": 5.0}, r"not refined any more.* remove judges\.refining"),
        ({"strategies": True}, r"judges.strategies = True: .* remove judges.strategies"),
        ({"test": "e_betting"}, "'loss' or 'exact'"),
        ({"items": 60}, "'rules' reads no anchor set"),
    ):
        with pytest.raises(StudyError, match=message):
            parse_study(changed(judges=judges), "here")
    path = tmp_path / "study.toml"
    path.write_text(STUDY + SPACE + '[judges]\npanel = "evolving"\nanchor = "anchor.json"\n')
    with pytest.raises(StudyError, match=r"judges\.anchor: there is no file"):
        load_study(path)
    (tmp_path / "anchor.json").write_text("{}")
    assert load_study(path).judges.anchor == str(tmp_path / "anchor.json")


def test_a_study_of_an_earlier_version_whose_keys_ask_for_nothing_that_is_gone_is_read():
    gone = {"tier": "certified", "rubric": False, "refining": 10.0}
    earlier = parse_study(changed(judges={"panel": "none", **gone}), "here")
    assert earlier == parse_study(changed(judges={"panel": "none"}), "here")
    nothing = parse_study(changed(memory={"inquiries": False}), "here")
    assert nothing == parse_study(changed(), "here")


def test_a_study_that_asks_for_inquiries_is_refused_and_one_in_an_old_journal_is_read():
    asking = changed(memory={"inquiries": True})
    with pytest.raises(StudyError, match=r"memory\.inquiries = True: .* remove memory\.inquiries"):
        parse_study(asking, "here")
    assert CampaignConfig.model_validate(asking) == parse_study(changed(), "here")


def test_a_study_with_the_usual_judges_is_written_as_before_there_were_others():
    plain = parse_study(changed(), "here")
    assert "judges" not in plain.model_dump(mode="json")
    evolving = parse_study(changed(judges={"panel": "evolving", "items": 60}), "here")
    assert CampaignConfig.model_validate(evolving.model_dump(mode="json")) == evolving
    assert evolving.judges.gate.floor == 0.001


def test_one_key_says_who_writes_theories_and_the_switch_of_earlier_studies_is_read() -> None:
    def advocates(**changes):
        return parse_study(changed(**changes), "here").theories.advocates

    model = {"writer": {"base_url": "http://127.0.0.1:8000/v1", "model": "bridge"}}
    written = {"models": model, "roles": {"reviser": "writer"}}
    assert advocates() == ("grammar", "induction", "language_model")
    assert advocates(theories__induction=False) == ("grammar", "language_model")
    assert advocates(theories__advocates=["language_model"], **written) == ("language_model",)
    for problem, changes in {
        "roles.reviser names none": {"theories__advocates": ["language_model"]},
        'leaves "language_model" out': {"theories__advocates": ["grammar"], **written},
        "name each advocate once": {"theories__advocates": ["grammar", "grammar"]},
        "replaces the key `induction`": {
            "theories__advocates": ["grammar"],
            "theories__induction": True,
        },
    }.items():
        with pytest.raises(StudyError, match=problem):
            advocates(**changes)


class TestPooled:
    def study(self, archive):
        domain = ARCHIVES[archive].domain
        people = {"source": "archival", "archive": archive, "pooled": True}
        names = list(FAMILIES[domain].seeds)[:2]
        return parse_study(changed(domain=domain, theories__seeds=names, participants=people), "s")

    def test_answers_of_an_archive_become_counts(self, data_folder, require):
        archive = "multiattribute_electricity"
        require((data_folder / archive).is_dir(), f"the data set {archive} is missing")
        (trials,) = archive_trials(self.study(archive), data_folder)
        assert trials.pooled
        assert (trials.n_people, trials.n_responses) == (361, 4308)

    def test_steps_of_a_schedule_cannot_be_counted(self, data_folder, require):
        archive = "learning_two_step_nussenbaum2020"
        require((data_folder / archive).is_dir(), f"the data set {archive} is missing")
        with pytest.raises(StudyError, match="steps of a schedule mean nothing"):
            archive_trials(self.study(archive), data_folder)

    def test_a_study_that_does_not_pool_is_written_as_before(self):
        assert "pooled" not in parse_study(changed(), "s").model_dump()["participants"]


def test_a_later_key_of_roles_changes_no_earlier_study() -> None:
    models = {"writer": {"base_url": "http://127.0.0.1:1/v1", "model": "m"}}
    roles = {"reviser": "writer"}

    def study(**sections: Any) -> CampaignConfig:
        return parse_study(changed(**sections), "s")

    before = study(models=models, roles=roles)
    assert "further" not in before.model_dump(mode="json")["roles"]
    assert study(models=models, roles={**roles, "further": 0}).digest == before.digest
    assert study(models=models, roles={**roles, "further": 4}).digest != before.digest


def test_the_limit_of_time_of_theories_changes_no_earlier_study() -> None:
    before = parse_study(changed(), "s")
    assert "seconds" not in before.model_dump(mode="json")["theories"]
    assert parse_study(changed(theories__seconds=10.0), "s").digest == before.digest
    longer = parse_study(changed(theories__seconds=60.0), "s")
    assert longer.digest != before.digest
    assert CampaignConfig.model_validate(longer.model_dump(mode="json")).theories.seconds == 60.0
    with pytest.raises(StudyError, match="seconds"):
        parse_study(changed(theories__seconds=0.0), "s")


@pytest.mark.parametrize("text", ["1", "[]", '"a"', "null", "[[1]]"])
def test_json_that_is_no_object_is_no_study(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(StudyError, match="holds no JSON object"):
        read_study(tmp_path / "a.json")


def test_a_number_with_more_digits_than_python_reads_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(f"seed = {'9' * 5000}\n", encoding="utf-8")
    with pytest.raises(StudyError, match="is not valid TOML: Exceeds the limit"):
        load_study(path)


def test_the_rule_that_ends_a_campaign_in_words() -> None:
    def words(**settings: float) -> str:
        return StopConfig(**settings).words(is_archive=False)

    assert words(cycles=1) == "the study ends after 1 cycle"
    assert words(cycles=5, patience=2) == (
        "the study ends after 5 cycles at the latest, and earlier from cycle 2 on, after 2 cycles without improvement "
        "of the leading theory, once its predictions move by less than 0.012 between two cycles, or once it beats "
        "every rival on frozen predictions and no new theory improves on it"
    )
    assert "after 3 cycles without improvement of the leading theory, or once it beats" in words(
        cycles=5, moved=0
    )
    assert words(cycles=1, exact=0.005) == (
        "the study ends after 1 cycle at the latest, and earlier in any cycle, once the squared error of the leading "
        "theory's frozen predictions (sampling noise subtracted) is below 0.005 with 95% confidence and no predictive "
        "check finds a misfit"
    )
    assert "move" not in StopConfig(cycles=5).words(is_archive=True)
