"""A run as an RO-Crate, which repositories and journals take: files, what they are, and how they came about.

References:
    Soiland-Reyes et al. (2022), Packaging research artefacts with RO-Crate, Data Science 5, 97-138.
    Leo et al. (2024), Recording provenance of workflow runs with RO-Crate, PLoS ONE 19, e0309210 (Process Run Crate).
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lakatos.flows.errors import ExportError
from lakatos.flows.export.provenance import prov_json
from lakatos.flows.export.selection import ExportSelection, selected
from lakatos.flows.operations.people_export import export as export_answers
from lakatos.flows.report.report import render
from lakatos.flows.run.run import ENGINE_VERSION
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import digest_bytes

LABORATORY = f"urn:lakatos:laboratory:{ENGINE_VERSION}"
CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
PYTHON = "https://www.python.org/"
METADATA = "ro-crate-metadata.json"
UNLICENSED = "No licence was given. Ask the authors before using it."
TYPES = {
    ".md": "text/markdown",
    ".jsonl": "application/jsonl",
    ".py": "text/x-python",
    ".json": "application/json",
}
ABOUT = {
    "study.json": "The study: question, task, design, participants, and when to stop.",
    "records.jsonl": "Every record that holds, in the order of the journal, with the digests it was derived from.",
    "prov.json": "The same as W3C PROV.",
    "report.html": "The report.",
    "answers/answers.csv": "Responses of participants, one row each.",
    "answers/people.csv": "Who took part, one row a person, under pseudonyms.",
    "answers/README.md": "Meaning of the columns of the responses.",
}


def write_crate(folder: Path, out: Path, *, author: str = "", licence: str = "") -> Path:
    """Write a run as a folder with an RO-Crate's metadata.

    Args:
        folder: Folder of the run.
        out: Folder to write, which must not hold a crate of something else.
        author: Name of whoever is responsible; an ORCID may stand in front of it.
        licence: Address of a licence.

    Returns:
        The metadata file.

    Raises:
        RunMissingError: There is no run.
        ExportError: The folder is not empty.
        ArtifactError: A file cannot be written.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ExportError(f"{out} is there already and not empty; name a new folder for the crate.")
    with selected(folder) as chosen:
        answered = bool(chosen.reading.state.experiments.collected)
        for name, data in _files(chosen):
            write_whole(out / name, data)
        metadata = _metadata(chosen, author, licence)
    if answered:
        export_answers(folder, out / "answers")
    files = sorted(path for path in out.rglob("*") if path.is_file())
    _describe(metadata, out, files)
    write_whole(out / METADATA, json.dumps(metadata, indent=1, ensure_ascii=False).encode())
    return out / METADATA


def record_lines(chosen: ExportSelection) -> Iterator[dict[str, Any]]:
    """The records of a selection as plain values."""
    for event in chosen.events:
        yield {
            "number": event.seq,
            "time_utc": event.time_utc,
            "kind": event.kind,
            "step": event.name,
            "position": dict(event.position),
            "digest": event.record_digest,
            "inputs": list(event.inputs),
            "record": chosen.body(event),
        }


def _files(chosen: ExportSelection) -> Iterator[tuple[str, bytes]]:
    page = render(chosen.reading)
    study = chosen.reading.config.model_dump(mode="json")
    yield "study.json", json.dumps(study, indent=1, ensure_ascii=False).encode()
    lines = (json.dumps(line, ensure_ascii=False) + "\n" for line in record_lines(chosen))
    yield "records.jsonl", "".join(lines).encode()
    yield "prov.json", json.dumps(prov_json(chosen), ensure_ascii=False).encode()
    yield "report.html", page.encode()
    for digest in chosen.reading.state.theories.checked:
        yield (
            f"theories/{chosen.reading.label(digest).tag}.py",
            chosen.reading.trace.artifacts.get(digest),
        )


_DESCRIPTOR = {
    "@id": METADATA,
    "@type": "CreativeWork",
    "conformsTo": {"@id": CRATE},
    "about": {"@id": "./"},
}
_PROFILE = {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
_SOFTWARE = {
    "@id": LABORATORY,
    "@type": "SoftwareApplication",
    "name": "Lakatos",
    "description": "A laboratory in which rival theories of human behaviour compete",
    "softwareVersion": ENGINE_VERSION,
}


def _metadata(chosen: ExportSelection, author: str, licence: str) -> dict[str, Any]:
    reading = chosen.reading
    began, ended = reading.times
    concluded = reading.concluded
    who, person = _author(author)
    rights: dict[str, Any] = {
        "@id": licence or "#licence",
        "@type": "CreativeWork",
        "name": licence or UNLICENSED,
    }
    if not licence:
        rights["description"] = UNLICENSED
    what = concluded.text if concluded else "Unfinished: there is no verdict yet."
    graph: list[dict[str, Any]] = [
        _DESCRIPTOR,
        {
            "@id": "./",
            "@type": "Dataset",
            "name": f"{reading.config.name}: {reading.config.question}",
            "description": what,
            "datePublished": ended[:10],
            "license": {"@id": rights["@id"]},
            "author": {"@id": who},
            "publisher": {"@id": who},
            "conformsTo": {"@id": PROFILE},
            "hasPart": [],
            "mentions": {"@id": "#run"},
        },
        _PROFILE,
        rights,
        person,
        _SOFTWARE,
        {
            "@id": "#run",
            "@type": "CreateAction",
            "name": f"Run {chosen.folder.resolve().name} of the study {reading.config.name}",
            "description": what,
            "instrument": {"@id": LABORATORY},
            "agent": {"@id": who},
            "object": {"@id": "study.json"},
            "result": [],
            "startTime": _seconds(began),
            "endTime": _seconds(ended),
            "actionStatus": f"http://schema.org/{'Completed' if concluded else 'Active'}ActionStatus",
        },
    ]
    return {"@context": f"{CRATE}/context", "@graph": graph}


def _describe(metadata: dict[str, Any], out: Path, files: list[Path]) -> None:
    """Say what each file is, and that the run made it."""
    entities = {item["@id"]: item for item in metadata["@graph"]}
    for path in files:
        name = path.relative_to(out).as_posix()
        data = path.read_bytes()
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        source = path.suffix == ".py"
        metadata["@graph"].append(
            {
                "@id": name,
                "@type": ["File", "SoftwareSourceCode"] if source else "File",
                "name": path.name if not source else f"Theory {path.stem}",
                "description": ABOUT.get(name, "Source of a theory." if source else name),
                "encodingFormat": kind,
                "contentSize": str(len(data)),
                "sha256": digest_bytes(data),
            }
            | (
                {"programmingLanguage": {"@id": PYTHON}, "version": digest_bytes(data)[:12]}
                if source
                else {}
            )
        )
        entities["./"]["hasPart"].append({"@id": name})
        if name != "study.json":
            entities["#run"]["result"].append({"@id": name})
    if any(path.suffix == ".py" for path in files):
        metadata["@graph"].append(
            {"@id": PYTHON, "@type": "ComputerLanguage", "name": "Python", "url": PYTHON}
        )


def _author(author: str) -> tuple[str, dict[str, Any]]:
    first, _, rest = author.partition(" ")
    if first.startswith("https://orcid.org/") and rest:
        return first, {"@id": first, "@type": "Person", "name": rest}
    if author:
        return "#author", {"@id": "#author", "@type": "Person", "name": author}
    unnamed = {
        "@id": "#author",
        "@type": "Organization",
        "name": "Not named",
        "description": "The researchers who ran the study",
    }
    return "#author", unnamed


def _seconds(time_utc: str) -> str:
    return time_utc[:19] + "+00:00" if time_utc else "1970-01-01T00:00:00+00:00"
