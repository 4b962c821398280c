"""Schedules as Prefect deployments, without a server: what they say, what they refuse, and the file for work pools."""

from __future__ import annotations

import importlib
import inspect
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import prefect.server.api
import pytest
import yaml
from prefect.cli.deploy._models import DeploymentConfig, PrefectYamlModel
from prefect.client.schemas.objects import ConcurrencyLimitStrategy
from prefect.exceptions import ParameterTypeError
from prefect.flows import load_flow_from_entrypoint

from lakatos.flows.operations.deploy import deployment_of, key_of, next_pass, timing
from lakatos.flows.operations.schedule import CampaignSchedule, make_schedule
from lakatos.flows.run.next_pass import ARRIVED

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2027, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "wrong",
    [
        {"run": "../escaped"},
        {"run": ""},
        {"workers": 0},
        {"workers": "many"},
        {"runs": ""},
        {"new_run": "perhaps"},
    ],
)
def test_parameters_that_cannot_be_are_refused_before_a_pass_begins(wrong: dict[str, Any]) -> None:
    assert next_pass.validate_parameters({"run": "a"})["workers"] == 2
    with pytest.raises(ParameterTypeError):
        next_pass.validate_parameters({"run": "a", **wrong})


def test_the_schema_that_prefect_checks_has_the_same_limits() -> None:
    properties = next_pass.parameters.model_dump()["properties"]
    assert properties["workers"]["minimum"] == 1
    assert properties["run"]["pattern"].startswith("^[A-Za-z0-9]")
    assert next_pass.parameters.model_dump()["required"] == ["run"]


def test_a_deployment_carries_one_pass_at_a_time_and_is_started_by_answers(tmp_path: Path) -> None:
    made = deployment_of(
        make_schedule("a", tmp_path / "a.toml", interval="6h", now=NOW), tmp_path, by_event=True
    )
    assert made.concurrency_limit == 1
    assert made.concurrency_options is not None
    assert made.concurrency_options.collision_strategy == ConcurrencyLimitStrategy.ENQUEUE
    assert made.entrypoint == "lakatos.flows.operations.deploy.next_pass"
    assert set(made.tags) == {"lakatos", "a"}
    assert made.enforce_parameter_schema
    next_pass.validate_parameters(made.parameters)
    (trigger,) = made.triggers
    assert trigger.expect == {ARRIVED}  # type: ignore[union-attr]
    assert not deployment_of(CampaignSchedule("a", "a.toml"), tmp_path, by_event=False).triggers
    assert deployment_of(
        CampaignSchedule("a", "a.toml", paused=True), tmp_path, by_event=False
    ).paused


def test_times_are_the_same_in_prefect() -> None:
    cron = timing(
        make_schedule("a", Path("a"), cron="0 6 * * 1", timezone="Europe/Berlin", now=NOW)
    )
    assert cron is not None
    assert (cron.cron, cron.timezone) == ("0 6 * * 1", "Europe/Berlin")
    interval = timing(make_schedule("a", Path("a"), interval="6h", now=NOW))
    assert interval is not None
    assert (interval.interval, interval.anchor_date) == (timedelta(hours=6), NOW)
    once = timing(
        make_schedule("a", Path("a"), at="2027-03-01T15:00", timezone="Europe/Berlin", now=NOW)
    )
    assert once is not None
    assert once.rrule == "DTSTART:20270301T140000Z\nRRULE:FREQ=DAILY;COUNT=1"
    assert timing(CampaignSchedule("a", "a.toml")) is None


def test_artifacts_have_keys_that_prefect_takes() -> None:
    assert (
        key_of("Risky_Choice.v2-20270301T120000Z", "report")
        == "risky-choice-v2-20270301t120000z-report"
    )


def test_the_file_for_work_pools_names_the_flow_with_parameters_that_are_valid() -> None:
    value = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    assert {item["name"] for item in value["deployments"]} == {"process", "docker", "kubernetes"}
    for item in value["deployments"]:
        assert item["concurrency_limit"] == {"limit": 1, "collision_strategy": "ENQUEUE"}
        assert item["work_pool"]["name"] == f"lakatos-{item['name']}"
        next_pass.validate_parameters(item["parameters"])
        found = load_flow_from_entrypoint(str(ROOT / item["entrypoint"]))
        assert found.name == next_pass.name


def base_templates() -> dict[str, dict[str, Any]]:
    """Variables of each type of work pool, by the templates that Prefect's server makes pools from."""
    file = (
        Path(prefect.server.api.__file__).parent
        / "collections_data"
        / "views"
        / "aggregate-worker-metadata.json"
    )
    return {
        kind: described["default_base_job_configuration"]["variables"]
        for collection in json.loads(file.read_text()).values()
        for kind, described in collection.items()
    }


def test_the_file_for_work_pools_is_what_prefects_own_models_and_templates_take() -> None:
    value, templates = yaml.safe_load((ROOT / "prefect.yaml").read_text()), base_templates()
    found = PrefectYamlModel.model_validate(value)
    for item, deployment in zip(value["deployments"], found.deployments, strict=True):
        assert set(item) <= set(
            DeploymentConfig.model_fields
        )  # others would be ignored without a word
        assert deployment.work_pool is not None
        variables, template = deployment.work_pool.job_variables, templates[item["name"]]
        assert set(variables) <= set(template["properties"])
        jsonschema.validate(variables, template)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**variables, "env": 1}, template)
        for step in item["pull"]:
            ((place, inputs),) = step.items()
            module, _, name = place.rpartition(".")
            inspect.signature(getattr(importlib.import_module(module), name)).bind(**inputs)
