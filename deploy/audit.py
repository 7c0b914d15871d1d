"""The audit of dependencies: every pin of the locks against published advisories, offline.

    python deploy/audit.py ADVISORIES [LOCK]...

ADVISORIES is an export of OSV records (https://ossf.github.io/osv-schema/) of the ecosystem PyPI, as osv.dev publishes
one (`PyPI/all.zip`), or a folder of such records. Exit code 0: no pin is affected; 1: some are, each on a line; 2: the
advisories or a lock cannot be read, which says nothing about the pins.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version
from sbom import ROOT, LockInvalid, components

LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-extras.lock", "requirements-uv.lock")
Advisory = Mapping[str, Any]


class AdvisoriesInvalid(ValueError):
    """The advisories that were given are damaged, or are not advisories."""


def advisories(path: Path) -> Iterator[Advisory]:
    """The records of an export, without those that were withdrawn. Raises AdvisoriesInvalid, for no records at all
    too."""
    count = 0
    try:
        for text in _texts(path):
            record = json.loads(text)
            count += 1
            if not isinstance(record, dict) or not isinstance(record.get("id"), str):
                raise AdvisoriesInvalid("a record without an id")
            if not record.get("withdrawn"):
                yield record
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError, json.JSONDecodeError) as exc:
        raise AdvisoriesInvalid(f"{path}: {exc}") from exc
    if not count:
        raise AdvisoriesInvalid(f"{path} holds no advisory")


def newest(records: list[Advisory]) -> str:
    """The day of the latest change, so that whoever reads the result sees how old the export is."""
    return max((str(record.get("modified", "")) for record in records), default="")[:10]


def affected(pins: Mapping[str, str], records: list[Advisory]) -> list[str]:
    """A line for each pin (name to version) and advisory that names it, in order of name and id."""
    found = set()
    for record in records:
        for each in record.get("affected", ()):
            package = each.get("package", {})
            name = _normal(str(package.get("name", "")))
            if package.get("ecosystem") == "PyPI" and name in pins and _holds(pins[name], each):
                aliases = ", ".join(sorted(map(str, record.get("aliases", ()))))
                told = f"{record['id']}{f' ({aliases})' if aliases else ''}"
                found.add(f"{name} {pins[name]}: {told}: {record.get('summary') or 'no summary'}")
    return sorted(found)


def _holds(pinned: str, affected: Mapping[str, Any]) -> bool:
    """True if the version is listed, or lies in a range. A range that cannot be read holds every version."""
    if pinned in affected.get("versions", ()):
        return True
    ranges = [each for each in affected.get("ranges", ()) if each.get("type") == "ECOSYSTEM"]
    if not ranges:
        return not affected.get("versions") and not affected.get("ranges")
    return any(_in_range(Version(pinned), each.get("events", ())) for each in ranges)


def _in_range(version: Version, events: Any) -> bool:
    """Events in order of version; a fix ends what was introduced before it, and `last_affected` after itself."""
    inside = False
    try:
        for event in sorted(events, key=_at):
            [(kind, value)] = event.items()
            if kind == "introduced" and _at(event)[0] <= version:
                inside = True
            elif (kind == "fixed" and Version(value) <= version) or (
                kind == "last_affected" and Version(value) < version
            ):
                inside = False
    except (InvalidVersion, ValueError, AttributeError, TypeError):
        return True
    return inside


def _at(event: Mapping[str, str]) -> tuple[Version, bool]:
    [(kind, value)] = event.items()
    return Version("0.dev0" if value == "0" else value), kind != "introduced"


def _texts(path: Path) -> Iterator[str]:
    if path.is_dir():
        for file in sorted(path.glob("*.json")):
            yield file.read_text("utf-8")
        return
    with zipfile.ZipFile(path) as packed:
        for name in sorted(packed.namelist()):
            if name.endswith(".json"):
                yield packed.read(name).decode("utf-8")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Audits, tells, and judges."""
    if not arguments:
        sys.stderr.write(__doc__ or "")
        return 2
    locks = [Path(each) for each in arguments[1:]] or [ROOT / each for each in LOCKS]
    try:
        records = list(advisories(Path(arguments[0])))
        pins = {lock: {_normal(c["name"]): c["version"] for c in components(lock.read_text("utf-8"))} for lock in locks}
    except (AdvisoriesInvalid, LockInvalid, OSError) as exc:
        sys.stderr.write(f"audit: {exc}\n")
        return 2
    found = sorted({line for each in pins.values() for line in affected(each, records)})
    sys.stdout.writelines(f"{line}\n" for line in found)
    checked = len({pin for each in pins.values() for pin in each.items()})
    told = f"{checked} pins, {len(records)} advisories, the latest of {newest(records)}: {len(found)} affected"
    sys.stdout.write(f"{told}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
