"""Campaigns that take seconds, for tests of what is made of a finished run."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from answering import HIDDEN, good
from small import small_study

from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.start import run_study
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.serve import running

TINY: dict[str, Any] = {
    "theories__induction": False,
    "theories__candidates": 2,
    "theories__successors": 1,
    "theories__draws": 32,
    "design__trials": 6,
    "design__participants": 8,
    "design__candidates": 20,
    "design__refused": "cover",
}


def tiny_study(**changes: Any) -> CampaignConfig:
    """Two cycles with eight simulated people each."""
    return small_study(**{**TINY, **changes})


def run_tiny(folder: Path, **changes: Any) -> Path:
    """A finished campaign without language models."""
    run_study(tiny_study(**changes), folder, n_workers=1)
    return folder


def run_with_model(folder: Path, **changes: Any) -> Path:
    """A finished campaign in which a rehearsed language model was arbiter, advocate, reviser and auditor."""
    with running(RehearsalSettings(context_tokens=32768), good) as served:
        roles = dict.fromkeys(("arbiter", "reviser", "advocate", "auditor"), "writer")
        study = tiny_study(
            models={"writer": {"base_url": served.base_url, "model": served.model}},
            roles={
                "max_tokens": 1500,
                "lenses": ["mechanism", "leap", "steelman"],
                **roles,
            },
            participants={"source": "simulated", "program": HIDDEN},
            **changes,
        )
        run_study(study, folder, n_workers=1)
    return folder


@cache
def tiny_run() -> Path:
    """One such campaign for all tests of a process."""
    place = Path(tempfile.mkdtemp(prefix="lakatos-tiny-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return run_tiny(place / "tiny")


@cache
def run_of_a_model() -> Path:
    """One with a language model in every role."""
    place = Path(tempfile.mkdtemp(prefix="lakatos-model-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return run_with_model(place / "model")
