"""Places where runs of a study were begun, as this laboratory's home knows, whatever folder they lie in.

A note per run is kept in ``begun`` in the home, named after the study's digest; it holds the run's folder. A note whose
folder holds no run any more is removed when it is looked for.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json, digest_bytes
from lakatos.traces.errors import ArtifactError
from lakatos.traces.head import forget_heads
from lakatos.traces.home import home
from lakatos.traces.place import holds_journal

if TYPE_CHECKING:
    from lakatos.flows.run.study import CampaignConfig


def note_begun(study: CampaignConfig, folder: Path) -> None:
    """Note that a run of a study was begun; a home that cannot be written stops no run."""
    mark = canonical_json({"folder": str(folder.resolve())})
    with suppress(OSError, ArtifactError):
        write_whole(_note(study, folder), mark, private=True)


def forget_begun(study: CampaignConfig, folder: Path, made: Sequence[Path]) -> None:
    """Remove a run that was refused before its first design, and what this laboratory's home keeps of it.

    Args:
        study: Its study.
        folder: Folder of the run, which is closed.
        made: Folders that were made for it, the innermost first; those that hold something else stay.
    """
    forget_heads(folder)
    _note(study, folder).unlink(missing_ok=True)
    shutil.rmtree(folder)
    for place in (*made[1:], _folder()):
        with suppress(OSError):
            place.rmdir()


def begun_of(study: CampaignConfig) -> list[Path]:
    """Folders of the runs of a study, in whatever folder of runs; those that are gone are forgotten."""
    found = []
    for path in sorted(_folder().glob(f"{study.digest}-*.json")):
        with suppress(OSError, ValueError, TypeError, KeyError):
            folder = Path(str(json.loads(path.read_bytes())["folder"]))
            if holds_journal(folder):
                found.append(folder)
            else:
                path.unlink()
    return found


def _note(study: CampaignConfig, folder: Path) -> Path:
    place = str(folder.resolve()).encode()
    return _folder() / f"{study.digest}-{digest_bytes(place)[:16]}.json"


def _folder() -> Path:
    return home() / "begun"
