"""Money, the draft that is sent, and the word that is needed before it is."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.experiments.participants.prolific.errors import BudgetError, PlanError
from lakatos.experiments.participants.prolific.money import Money, ServiceFee
from lakatos.experiments.participants.prolific.plan import (
    RecruitmentSettings,
    SpendingConfirmation,
    confirm,
    load_settings,
    make_plan,
)

SETTINGS = {
    "experiment": "pilot",
    "title": "Choices",
    "description": "You choose.",
    "url": "https://lab.example/study/",
    "people": 50,
    "minutes": 10,
    "reward": "1.50",
}


def test_amounts_are_read_and_written_in_pounds_and_held_in_pence():
    assert [Money.parse(text).minor for text in ("1", "1.5", "1.05", "0.29", "4.10")] == [
        100,
        150,
        105,
        29,
        410,
    ]
    assert [Money(minor).major for minor in (5, 29, 100, 405)] == ["0.05", "0.29", "1.00", "4.05"]


@given(st.integers(0, 10**8))
def test_an_amount_reads_back_as_it_was_written(minor):
    assert Money.parse(Money(minor).major).minor == minor


@pytest.mark.parametrize("text", ["", "-1", "1,50", "1.505", "1e3", "NaN", "£2", " 1", "٣"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(PlanError, match="no amount"):
        Money.parse(text)


def test_amounts_are_reckoned_with_in_whole_pence():
    assert Money(150) + Money(5) == Money(155)
    assert Money(150) - Money(5) == Money(145)
    assert Money(150) * 3 == Money(450)
    assert [Money(minor) // Money(50) for minor in (149, 150, -1)] == [2, 3, -1]
    assert (Money(5) <= Money(5), Money(6) <= Money(5)) == (True, False)
    assert (Money(5) < Money(5), Money(4) < Money(5)) == (False, True)
    assert (bool(Money(0)), bool(Money(1)), bool(Money(-1))) == (False, True, True)
    assert str(Money(-405, "USD")) == "-4.05 USD"
    with pytest.raises(PlanError, match="whole number"):
        Money(1.5)


def test_two_currencies_are_never_added():
    with pytest.raises(PlanError, match="two currencies"):
        Money(1, "GBP") + Money(1, "USD")


def test_the_fee_is_the_services_share_and_the_tax_on_it_rounded_up():
    # 1.50 and 42.8% of it, 0.642, and 20% of that, 0.1284: 2.2704.
    assert ServiceFee(Decimal("42.8"), Decimal(20)).cost(Money(150)) == Money(228)
    assert ServiceFee(Decimal("33.3"), Decimal(0)).cost(Money(100)) == Money(134)


@given(st.lists(st.integers(1, 10**5), min_size=1, max_size=30))
def test_costs_of_parts_are_never_less_than_the_cost_of_their_sum(parts):
    fee = ServiceFee()
    each = sum(fee.cost(Money(part)).minor for part in parts)
    whole = fee.cost(Money(sum(parts))).minor
    assert whole <= each < whole + len(parts)


def test_the_draft_asks_for_the_reward_in_pence_and_names_the_three_placeholders():
    plan = make_plan(RecruitmentSettings(**SETTINGS), key="ab" * 12)
    draft = plan.draft()
    assert draft["reward"] == 150
    assert draft["total_available_places"] == 50
    assert draft["internal_name"].endswith(f"[{'ab' * 12}]")
    for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"):
        assert f"{name}={{{{%{name}%}}}}" in draft["external_study_url"]
    codes = [entry["code"] for entry in draft["completion_codes"]]
    assert len(set(codes)) == len(codes)
    assert "AUTOMATICALLY_APPROVE" not in str(draft)


def test_the_draft_is_what_the_service_documents():
    more = {
        "url": "https://lab.example/study/?a=b",
        "screen_out_reward": "0.20",
        "most_screened_out": 5,
        "most_minutes": 45,
        "project": "p1",
        "blocked_studies": ("bbb", "ccc"),
        "devices": ("desktop",),
        "filters": ({"filter_id": "age", "selected_range": {"lower": 18}},),
        "completion_code": "OURS",
        "most_failed_checks": 1,
    }
    plan = make_plan(RecruitmentSettings(**SETTINGS | more), key="ab" * 12, earlier=("aaa", "bbb"))
    by_hand = [{"action": "MANUALLY_REVIEW"}]
    paid = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 5}
    kinds = [
        ("COMPLETED", by_hand),
        ("FAILED_ATTENTION_CHECK", by_hand),
        ("FIXED_SCREENOUT", [paid]),
        ("INCOMPATIBLE_DEVICE", by_hand),
        ("NO_CONSENT", by_hand),
    ]
    assert plan.codes["COMPLETED"] == "OURS"
    assert plan.draft() == {
        "name": "Choices",
        "internal_name": f"pilot [{'ab' * 12}]",
        "description": "You choose.",
        "external_study_url": "https://lab.example/study/?a=b&PROLIFIC_PID={{%PROLIFIC_PID%}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        "prolific_id_option": "url_parameters",
        "completion_codes": [
            {
                "code": plan.codes[kind],
                "code_type": kind,
                "actor": "participant",
                "actions": actions,
            }
            for kind, actions in kinds
        ],
        "total_available_places": 50,
        "estimated_completion_time": 10,
        "reward": 150,
        "device_compatibility": ["desktop"],
        "peripheral_requirements": [],
        "filters": [
            {"filter_id": "age", "selected_range": {"lower": 18}},
            {
                "filter_id": "previous_studies_blocklist",
                "selected_values": ["aaa", "bbb", "ccc"],
            },
        ],
        "submissions_config": {"max_submissions_per_participant": 1},
        "maximum_allowed_time": 45,
        "project": "p1",
    }


def test_what_is_not_set_is_left_to_the_service():
    draft = make_plan(RecruitmentSettings(**SETTINGS)).draft()
    assert not {"maximum_allowed_time", "project"} & set(draft)
    assert draft["filters"] == []
    assert draft["device_compatibility"] == ["desktop", "tablet", "mobile"]
    assert {str(entry["actions"]) for entry in draft["completion_codes"]} == {
        "[{'action': 'MANUALLY_REVIEW'}]"
    }


def test_keys_and_codes_are_made_up_anew_and_people_of_earlier_studies_may_be_admitted():
    admitting = RecruitmentSettings(**SETTINGS, former_participants="admit")
    first, second = (make_plan(admitting, earlier=("aaa",)) for _ in range(2))
    assert first.earlier == ()
    assert first.key != second.key
    assert not set(first.codes.values()) & set(second.codes.values())
    assert {len(code) for code in first.codes.values()} == {8}
    assert len(first.key) == 24


def test_an_hour_paid_just_as_the_plan_demands_is_accepted():
    RecruitmentSettings(**SETTINGS | {"reward": "1.00", "minutes": 10})
    RecruitmentSettings(**SETTINGS | {"service_percent": "0", "tax_percent": "100"})
    with pytest.raises(ValueError, match="is less than"):
        RecruitmentSettings(**SETTINGS | {"reward": "0.99", "minutes": 10})


def test_people_of_earlier_studies_are_kept_out():
    plan = make_plan(RecruitmentSettings(**SETTINGS), earlier=("aaa", "bbb"))
    assert {
        "filter_id": "previous_studies_blocklist",
        "selected_values": ["aaa", "bbb"],
    } in plan.draft()["filters"]


def test_the_total_is_what_everybody_costs_at_most():
    settings = RecruitmentSettings(
        **SETTINGS, most_bonus="0.50", screen_out_reward="0.20", most_screened_out=5
    )
    fee = ServiceFee()
    expected = (
        50 * (fee.cost(Money(150)).minor + fee.cost(Money(50)).minor)
        + 5 * fee.cost(Money(20)).minor
    )
    assert make_plan(settings).total_cost == Money(expected)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reward": "0.50"}, "less than 6.00 GBP an hour"),
        ({"url": "http://lab.example"}, "https"),
        ({"url": "http://127.0.0.1.lab.example"}, "https"),
        ({"url": "http://localhost.lab.example"}, "https"),
        ({"url": "https://"}, "https"),
        ({"url": "https://lab.example/?p={{%PROLIFIC_PID%}}"}, "https"),
        ({"people": 0}, "people"),
        ({"people": 10_001}, "people"),
        ({"minutes": 0}, "minutes"),
        ({"minutes": 361}, "minutes"),
        ({"most_screened_out": -1}, "most_screened_out"),
        ({"most_failed_checks": -1}, "most_failed_checks"),
        ({"most_minutes": -1}, "most_minutes"),
        ({"title": ""}, "title"),
        ({"title": "x" * 121}, "title"),
        ({"description": ""}, "description"),
        ({"experiment": "x" * 65}, "experiment"),
        ({"completion_code": "x" * 65}, "completion_code"),
        ({"screen_out_reward": "1.50", "most_screened_out": 1}, "less than the reward"),
        ({"tax_percent": "101"}, "no percentage"),
        ({"reward": "1,50"}, "no amount"),
        ({"peple": 3}, "peple"),
        ({"screen_out_reward": "0.20"}, "given together"),
        ({"service_percent": "428"}, "no percentage"),
    ],
)
def test_settings_that_cannot_be_carried_out_are_refused_by_name(tmp_path, change, words):
    lines = (f"{name} = {value!r}".replace("'", '"') for name, value in (SETTINGS | change).items())
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    with pytest.raises(PlanError, match=words):
        load_settings(tmp_path / "plan.toml")


def test_settings_at_the_edge_of_what_can_be_carried_out_are_taken(tmp_path):
    edges = {
        "url": "http://127.0.0.1:8000/", "people": 10_000, "minutes": 360, "reward": "40.00", "title": "x" * 120,
        "experiment": "x" * 64, "completion_code": "x" * 64, "tax_percent": "100", "most_failed_checks": 0,
        "screen_out_reward": "39.99", "most_screened_out": 1, "most_minutes": 0,
    }  # fmt: skip
    lines = (f"{name} = {value!r}".replace("'", '"') for name, value in (SETTINGS | edges).items())
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    found = load_settings(tmp_path / "plan.toml")
    assert found.people == 10_000
    assert RecruitmentSettings(**SETTINGS | {"people": 1, "minutes": 1}).minutes == 1


class TestConfirmation:
    plan = make_plan(RecruitmentSettings(**SETTINGS))

    def test_the_name_typed_again_confirms(self):
        assert (
            confirm(self.plan, self.plan.total_cost, typed_name="pilot").limit
            == self.plan.total_cost
        )

    def test_the_exact_cost_typed_again_confirms(self):
        assert confirm(self.plan, Money(10**6), typed_cost=self.plan.total_cost).plan is self.plan

    @pytest.mark.parametrize("name", ["", "Pilot", "yes", "pilot "])
    def test_anything_else_does_not(self, name):
        with pytest.raises(BudgetError, match="type the name 'pilot'"):
            confirm(self.plan, self.plan.total_cost, typed_name=name)

    def test_another_cost_does_not(self):
        with pytest.raises(BudgetError, match="costs up to"):
            confirm(self.plan, Money(10**6), typed_cost=Money(1))

    def test_a_plan_that_could_cost_more_than_the_limit_is_not_confirmed(self):
        with pytest.raises(BudgetError, match="more than the limit"):
            confirm(self.plan, self.plan.total_cost - Money(1), typed_name="pilot")

    def test_nothing_else_makes_a_confirmation(self):
        with pytest.raises(BudgetError, match="without a confirmation"):
            SpendingConfirmation(self.plan, Money(10**6))
