"""The software bill of materials: every pinned dependency with its digests, as CycloneDX 1.6, from the locks alone.

    python deploy/sbom.py [LOCK]... > sbom.json

Reads no network and no environment. The same locks give the same bytes: no time, and a serial number that is made of
the content.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "requirements.lock"
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^ ;\\]+)(?: ; (?P<when>[^\\]+?))?(?: \\)?")
_HASH = re.compile(r" +--hash=sha256:(?P<digest>[0-9a-f]{64})(?: \\)?")


class LockInvalid(ValueError):
    """A line of a lock that is no pin with its digests."""


def components(lock: str) -> Iterator[dict[str, Any]]:
    """The pins of a lock, in its order. Raises LockInvalid."""
    found: dict[str, Any] | None = None
    for line in lock.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        digest, pin = _HASH.fullmatch(line), _PIN.fullmatch(line)
        if digest and found:
            found["hashes"].append({"alg": "SHA-256", "content": digest["digest"]})
        elif pin:
            if found:
                yield _whole(found)
            found = _component(pin)
        else:
            raise LockInvalid(f"no pin: {line.strip()[:80]}")
    if found:
        yield _whole(found)


def _component(pin: re.Match[str]) -> dict[str, Any]:
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', pin['name']).lower()}@{pin['version']}"
    made = {
        "type": "library",
        "bom-ref": purl,
        "name": pin["name"],
        "version": pin["version"],
        "purl": purl,
        "hashes": [],
    }
    return made | ({"properties": [{"name": "exhibit:marker", "value": pin["when"]}]} if pin["when"] else {})


def _whole(component: dict[str, Any]) -> dict[str, Any]:
    if not component["hashes"]:
        raise LockInvalid(f"{component['name']} has no digest")
    return component


def bill(*locks: Path) -> dict[str, Any]:
    """The document; a version that several locks pin is listed once. Raises LockInvalid."""
    found = {each["bom-ref"]: each for lock in locks for each in components(lock.read_text("utf-8"))}
    listed = [found[ref] for ref in sorted(found)]
    digest = hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "exhibit", "name": "exhibit"}},
        "components": listed,
        "dependencies": [{"ref": "exhibit", "dependsOn": [each["bom-ref"] for each in listed]}],
    }


if __name__ == "__main__":
    locks = [Path(each) for each in sys.argv[1:]] or [SHIPPED]
    sys.stdout.write(json.dumps(bill(*locks), indent=1) + "\n")
