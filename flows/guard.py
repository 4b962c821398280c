"""Check that the packages of Lakatos are all there and its own, before anything else is imported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from lakatos.flows.errors import InstallationError

PACKAGES = (
    "flows",
    "memory",
    "judges",
    "domains",
    "theories",
    "experiments",
    "language_models",
    "traces",
)


def check_packages(names: tuple[str, ...] = PACKAGES) -> Path:
    """The one folder that holds all packages, which are not imported for this.

    Raises:
        InstallationError: A package is missing, or lies in another folder than `flows`. In a checkout
            the folder `lakatos` holds links, which some ways of copying turn into files.
    """
    home = Path(__file__).resolve().parents[1]
    for name in names:
        spec = find_spec(f"lakatos.{name}")
        places = (
            [Path(place).resolve() for place in (spec.submodule_search_locations or ())]
            if spec
            else []
        )
        if places != [home / name]:
            raise InstallationError(
                f"the package 'lakatos.{name}' is not {home / name} but {places[0] if places else 'missing'}. "
                "Check that lakatos/ of the checkout still holds a link to each package "
                "(`git checkout -- lakatos`), or install again."
            )
    return home
