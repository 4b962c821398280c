"""Check that the packages of Lakatos are its own: PyPI has others called `flows`, `judges`, `memory` and `traces`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from lakatos.flows.errors import InstallationError

PACKAGES = ("flows", "memory", "judges", "theories", "experiments", "language_models", "traces")


def check_packages(names: tuple[str, ...] = PACKAGES) -> Path:
    """The one folder that holds all packages.

    Does not import them.

    Raises:
        InstallationError: A package is missing or lies in another folder than `flows`.
    """
    home = Path(__file__).resolve().parent.parent
    for name in names:
        spec = find_spec(name)
        places = (
            [Path(place).resolve() for place in (spec.submodule_search_locations or ())]
            if spec
            else []
        )
        if not places:
            raise InstallationError(
                f"the package {name!r} of Lakatos is not a folder beside {home / 'flows'}. "
                "Install Lakatos again, in a virtual environment of its own."
            )
        foreign = [place for place in places if place.parent != home]
        if foreign:
            raise InstallationError(
                f"Python finds a foreign package {name!r} in {foreign[0]} instead of {home / name}. "
                f"Run `pip uninstall {name}`, leave that folder, or use a virtual environment of its own for Lakatos."
            )
    return home
