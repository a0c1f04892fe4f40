"""Query the metadata service of a cloud for this machine; print JSON, or null where no cloud answers.

This file runs at the end itself, like `end_facts.py`. The query sends packets out of the machine, so it is
only made on request.

Source: AWS, "Use IMDSv2"; Google Cloud, "View and query VM metadata"; Azure, "Instance Metadata Service".
"""

from __future__ import annotations

import json
from urllib.request import ProxyHandler, Request, build_opener

_SERVICE = "http://169.254.169.254"
_WITHIN_S = 1.0


def cloud() -> dict[str, str] | None:
    """Return the provider, and its names for the machine's type and place."""
    for provider in (_aws, _google, _azure):
        try:
            return provider()
        except (OSError, ValueError, KeyError):
            continue  # There is no answer, or another service answers.
    return None


def _aws() -> dict[str, str]:
    token = _said("/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"}, "PUT")
    document = json.loads(
        _said("/latest/dynamic/instance-identity/document", {"X-aws-ec2-metadata-token": token})
    )
    return {"provider": "aws", "type": document["instanceType"], "place": document["availabilityZone"]}


def _google() -> dict[str, str]:
    # Answered as `projects/NUMBER/machineTypes/TYPE` and `projects/NUMBER/zones/ZONE`.
    kind, place = (
        _said(f"/computeMetadata/v1/instance/{what}", {"Metadata-Flavor": "Google"}).rpartition("/")[2]
        for what in ("machine-type", "zone")
    )
    return {"provider": "google", "type": kind, "place": place}


def _azure() -> dict[str, str]:
    compute = json.loads(
        _said("/metadata/instance/compute?api-version=2021-02-01&format=json", {"Metadata": "true"})
    )
    return {"provider": "azure", "type": compute["vmSize"], "place": compute["location"]}


def _said(path: str, headers: dict[str, str], method: str = "GET") -> str:
    # A proxy would answer for another machine.
    request = Request(_SERVICE + path, headers=headers, method=method)
    with build_opener(ProxyHandler({})).open(request, timeout=_WITHIN_S) as answer:
        return str(answer.read(1 << 16).decode())


if __name__ == "__main__":
    print(json.dumps(cloud()))
