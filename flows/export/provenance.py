"""Provenance in the terms of the W3C: records are entities, steps activities, and whoever acted an agent.

References:
    Moreau & Missier (editors) (2013), PROV-DM: the PROV data model, W3C recommendation.
    Huynh, Jewell, Keshavarz, Michaelides, Yang & Moreau (2013), The PROV-JSON serialization, W3C member submission.
"""

from __future__ import annotations

import json
from collections.abc import Container
from pathlib import Path
from typing import Any

from lakatos.experiments.record import TrialsCollected
from lakatos.flows.export.selection import ExportSelection, selected
from lakatos.flows.report.words import words_of
from lakatos.flows.run.run import ENGINE_VERSION
from lakatos.language_models.record import LanguageModelCalled
from lakatos.theories.engine.record import TheoryChecked
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest
from lakatos.traces.journal import Event

NAMESPACE = "urn:lakatos:"
LABORATORY = "lakatos:laboratory"


def prov_json(chosen: ExportSelection) -> dict[str, Any]:
    """The run as PROV-JSON: what was made from what, when, by which step, and who acted."""
    known = {event.record_digest for event in chosen.events}
    document: dict[str, Any] = {
        "prefix": {"lakatos": NAMESPACE, "xsd": "http://www.w3.org/2001/XMLSchema#"},
        "entity": {},
        "activity": {},
        "agent": {
            LABORATORY: {
                "prov:type": _name("prov:SoftwareAgent"),
                "prov:label": f"Lakatos {ENGINE_VERSION}",
            }
        },
        "used": {},
        "wasGeneratedBy": {},
        "wasAssociatedWith": {},
        "wasAttributedTo": {},
        "wasDerivedFrom": {},
    }
    for event in chosen.events:
        entity, activity = f"lakatos:record-{event.record_digest}", f"lakatos:step-{event.key}"
        document["entity"][entity] = {
            "prov:type": event.kind,
            "prov:label": words_of(chosen.reading, event.kind, event.body)[:300],
            "lakatos:number": event.seq,
            "lakatos:sha256": event.record_digest,
        }
        document["activity"][activity] = {
            "prov:type": event.name,
            "prov:startTime": chosen.started(event),
            "prov:endTime": event.time_utc,
        }
        document["wasGeneratedBy"][f"_:g{event.seq}"] = {
            "prov:entity": entity,
            "prov:activity": activity,
            "prov:time": event.time_utc,
        }
        _associate(document, chosen, event, activity)
        _derive(document, known, event, entity, activity)
    return {name: part for name, part in document.items() if part}


def _derive(
    document: dict[str, Any], known: Container[Digest], event: Event, entity: str, activity: str
) -> None:
    """Say what a record was made from: other records, or artifacts."""
    for place, cited in enumerate(dict.fromkeys(event.inputs)):
        source = f"lakatos:{'record' if cited in known else 'artifact'}-{cited}"
        if cited not in known:
            artifact = {"prov:type": "artifact", "lakatos:sha256": cited}
            document["entity"].setdefault(source, artifact)
        document["used"][f"_:u{event.seq}-{place}"] = {
            "prov:activity": activity,
            "prov:entity": source,
        }
        document["wasDerivedFrom"][f"_:d{event.seq}-{place}"] = {
            "prov:generatedEntity": entity,
            "prov:usedEntity": source,
        }


def _associate(
    document: dict[str, Any], chosen: ExportSelection, event: Event, activity: str
) -> None:
    """Associate a step with those who carried it out and to whom its result is due."""
    record, entity = chosen.record(event), f"lakatos:record-{event.record_digest}"
    agents = [LABORATORY]
    if isinstance(record, LanguageModelCalled):
        agents.append(f"lakatos:model-{record.model_version}")
        document["agent"][agents[-1]] = {
            "prov:type": _name("prov:SoftwareAgent"),
            "prov:label": f"language model {record.model_name or record.model}",
        }
    if isinstance(record, TrialsCollected):
        agents.append(f"lakatos:participants-{event.seq}")
        machine = chosen.reading.simulated or bool(record.language_model)
        document["agent"][agents[-1]] = {
            "prov:type": _name("prov:SoftwareAgent" if machine else "prov:Person"),
            "prov:label": words_of(chosen.reading, event.kind, event.body).removeprefix(
                f"{record.n_responses} responses of "
            ),
        }
        document["wasAttributedTo"][f"_:p{event.seq}"] = {
            "prov:entity": entity,
            "prov:agent": agents[-1],
        }
    if isinstance(record, TheoryChecked):
        author = f"lakatos:author-{''.join(c if c.isalnum() else '-' for c in record.author)}"
        document["agent"].setdefault(
            author, {"prov:type": _name("prov:Agent"), "prov:label": record.author}
        )
        document["wasAttributedTo"][f"_:t{event.seq}"] = {
            "prov:entity": entity,
            "prov:agent": author,
        }
    for place, agent in enumerate(agents):
        document["wasAssociatedWith"][f"_:a{event.seq}-{place}"] = {
            "prov:activity": activity,
            "prov:agent": agent,
        }


def _name(name: str) -> dict[str, str]:
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def write_prov(folder: Path, out: Path) -> Path:
    """Write the provenance of a run as PROV-JSON.

    Raises:
        RunMissingError: There is no run.
    """
    with selected(folder) as chosen:
        write_whole(out, json.dumps(prov_json(chosen), ensure_ascii=False).encode())
    return out
