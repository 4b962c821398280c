"""Run by the interpreter of an environment that holds ``roc-validator``, ``rocrate`` and ``prov``, not by pytest.

    python validating.py CRATE PROFILE SEVERITY

Validates a crate with the public validator and reads its PROV back with the reference implementation. The definition of
RO-Crate's terms, which the validator would fetch from w3id.org, is the copy that ``rocrate`` brings along, so that it
works without a network. Prints JSON.
"""

import io
import json
import sys
import urllib.request
import urllib.response
from email.message import Message
from importlib.resources import files
from pathlib import Path

import requests
import requests.adapters
import urllib3

TERMS = (files("rocrate") / "data" / "ro-crate.jsonld").read_bytes()


class Bundled(urllib.request.HTTPSHandler):
    """Answers for the terms of RO-Crate; nothing else can be fetched."""

    def https_open(self, request):
        check(request.full_url)
        headers = Message()
        headers["Content-Type"] = "application/ld+json"
        answer = urllib.response.addinfourl(io.BytesIO(TERMS), headers, request.full_url, 200)
        answer.msg = "OK"
        return answer


def send(adapter, request, **settings):
    """The same for the validator's other way to fetch."""
    check(request.url)
    answer = requests.Response()
    answer.status_code, answer.url, answer.request = 200, request.url, request
    answer.headers["Content-Type"] = "application/ld+json"
    answer.raw = urllib3.HTTPResponse(
        io.BytesIO(TERMS), status=200, preload_content=False, request_url=request.url
    )
    return answer


def check(url):
    if "w3id.org/ro/crate" not in url:
        raise OSError(f"{url} is not bundled")


def main() -> None:
    crate, profile, severity = sys.argv[1:]
    requests.adapters.HTTPAdapter.send = send
    urllib.request.install_opener(urllib.request.build_opener(Bundled))
    from prov.model import ProvDocument
    from rocrate_validator import services
    from rocrate_validator.models import Severity, ValidationSettings

    found = services.validate(
        ValidationSettings(
            rocrate_uri=crate,
            profile_identifier=profile,
            requirement_severity=Severity[severity],
            disable_remote_crate_download=True,
        )
    )
    issues = [
        f"{issue.severity.name} {issue.check.identifier}: {issue.message}"
        for issue in found.get_issues()
    ]
    document = ProvDocument.deserialize(str(Path(crate) / "prov.json"), format="json")
    again = ProvDocument.deserialize(content=document.serialize(format="json"), format="json")
    print(
        json.dumps(
            {"issues": issues, "n_prov": len(document.get_records()), "same": document == again}
        )
    )


if __name__ == "__main__":
    main()
