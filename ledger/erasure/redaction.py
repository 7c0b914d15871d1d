"""Redaction: salts, keys and contents of parts go, the leaves and every proof stay.

A redaction entry points at the entries (`redacts`), and its part `detail` names what went and why, by ids and
pseudonyms and keyed fingerprints only; its part `prov` says the same in W3C PROV (`wasInvalidatedBy`). Deletion and
entry are one transaction.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from rfc8785 import CanonicalizationError

from ledger.canonical import canonical_json, is_canonical
from ledger.entry.leaf import is_entry_id, strict_object
from ledger.errors import EntryRefused, MalformedLeaf
from ledger.provenance.check import RUN, VOCABULARY
from ledger.stores.store import PartAt

V1, V2 = "exhibit.redaction/1", "exhibit.redaction/2"
REDACTS = "redacts"
MAX_ENTRIES = 16
"""Entries that one redaction names: their refs must fit into a leaf of 4 KiB."""
MAX_PRINTS_BYTES = 24 * 1024 * 1024
"""Fingerprints of one redaction: two million, of about 16 MiB of text."""
_BASIS = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .,:;()/_-]{0,199}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


_FIELDS = {"v", "target", "name", "basis", "parts"}


class Target(StrEnum):
    """The target of a redaction."""

    ENTRY = "entry"
    SUBJECT = "subject"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Scan:
    """The search for what was erased, afterwards: by which redactions (entry ids), how many `files` and `bytes` of the
    home and which `servers` were read, how many `prints` were looked for, of which `shared` stand in other sources that
    stay; `hits` are places where something is left, with the number of fingerprints, `unread` places not searched."""

    redactions: tuple[str, ...]
    files: int
    bytes: int
    servers: tuple[str, ...]
    prints: int
    shared: int
    hits: tuple[tuple[str, int], ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """True if everything was read and nothing found."""
        return not self.hits and not self.unread

    def document(self) -> dict[str, Any]:
        """As it stands in the detail."""
        return {
            "redactions": list(self.redactions),
            "files": self.files,
            "bytes": self.bytes,
            "servers": list(self.servers),
            "prints": self.prints,
            "shared": self.shared,
            "hits": [{"where": where, "prints": count} for where, count in self.hits],
            "unread": list(self.unread),
        }


@dataclass(frozen=True, slots=True)
class Redaction:
    """The target of an erasure: `name` is an entry id, or the pseudonym of a subject or source; `basis` the ground, in
    words that name no person; `parts` of at most 16 entries; `prints` the packed fingerprints of what goes
    (`ledger.erasure.fingerprint`), None in the first version of the form; `scan` what a search for them found
    afterwards. A redaction without parts has prints, of what goes from elsewhere, or a scan. Raises EntryRefused for
    anything else."""

    target: Target
    name: str
    basis: str
    parts: tuple[PartAt, ...]
    prints: bytes | None = None
    scan: Scan | None = None

    def __post_init__(self) -> None:
        check_basis(self.basis)
        if len(self.entry_ids) > MAX_ENTRIES or not (self.parts or self.prints or self.scan):
            raise EntryRefused(f"a redaction names parts of 1 to {MAX_ENTRIES} entries")
        if self.scan is not None and (self.parts or self.prints is None):
            raise EntryRefused("a scan is recorded by itself, in the second version of the form")
        if self.prints and len(self.prints) > MAX_PRINTS_BYTES:
            raise EntryRefused(f"fingerprints take at most {MAX_PRINTS_BYTES} bytes")

    @property
    def entry_ids(self) -> tuple[str, ...]:
        """The entries that lose something, in order."""
        return tuple(sorted({part.entry_id for part in self.parts}))

    def detail(self) -> bytes:
        """The part `detail`, canonical."""
        body: dict[str, Any] = {
            "v": V1,
            "target": str(self.target),
            "name": self.name,
            "basis": self.basis,
            "parts": {each: sorted(p.name for p in self.parts if p.entry_id == each) for each in self.entry_ids},
        }
        if self.prints is not None:
            packed = b64encode(self.prints).decode("ascii")
            body |= {"v": V2, "prints": packed, "scan": self.scan and self.scan.document()}
        return canonical_json(body)


def check_basis(basis: str) -> None:
    """Raise EntryRefused unless the ground is short and plain."""
    if not _BASIS.fullmatch(basis):
        raise EntryRefused(
            "the basis is 1 to 200 letters, digits, spaces and .,:;()/_- ; it names a ground, such as a law"
        )


def parse_detail(data: bytes) -> Redaction:
    """The redaction that `detail` names. Raises MalformedLeaf for anything that `Redaction.detail` would not write."""
    body = strict_object(data)
    if (body.get("v"), set(body)) not in ((V1, _FIELDS), (V2, _FIELDS | {"prints", "scan"})):
        raise MalformedLeaf(f"not the detail of {V1} or {V2}")
    if body["target"] not in tuple(Target) or not all(isinstance(body[key], str) for key in ("name", "basis")):
        raise MalformedLeaf("target, name or basis is not one")
    try:
        parts = tuple(_parts(body["parts"]))
        more = (_prints(body["prints"]), _scan(body["scan"])) if body["v"] == V2 else (None, None)
        redaction = Redaction(Target(body["target"]), body["name"], body["basis"], parts, *more)
    except EntryRefused as exc:
        raise MalformedLeaf(str(exc)) from exc
    if not is_canonical(body, data) or redaction.detail() != data:
        raise MalformedLeaf("the bytes are not in canonical form")
    return redaction


def invalidation_document(redaction: Redaction, *, run_id: str, at_ms: int) -> bytes:
    """Canonical PROV-JSON: each part an entity that the redaction invalidated, at that time (UTC)."""
    moment = (_EPOCH + timedelta(milliseconds=at_ms)).isoformat()
    activity, agent = "run:activity/redaction", "run:agent/operator"
    names = sorted(f"entry/{part.entry_id}/{part.name}" for part in redaction.parts)
    described = {"exhibit:target": str(redaction.target), "exhibit:name": redaction.name}
    return canonical_json(
        {
            "prefix": {"exhibit": VOCABULARY, "run": RUN.format(run_id=run_id)},
            "entity": {f"run:{name}": {"prov:type": _type("exhibit:Part")} for name in names},
            "activity": {
                activity: {
                    "prov:type": _type("exhibit:Redaction"),
                    "prov:startTime": moment,
                    "prov:endTime": moment,
                    **described,
                }
            },
            "agent": {agent: {"prov:type": [_type("exhibit:Operator"), _type("prov:Organization")]}},
            "wasInvalidatedBy": {
                f"run:invalidated/{name}/activity/redaction": {
                    "prov:entity": f"run:{name}",
                    "prov:activity": activity,
                    "prov:time": moment,
                }
                for name in names
            },
            "wasAssociatedWith": {
                "run:associated/activity/redaction/agent/operator": {"prov:activity": activity, "prov:agent": agent}
            },
        }
    )


def batches(parts: Mapping[str, Sequence[str]]) -> Iterable[tuple[PartAt, ...]]:
    """Names by entry, cut into what one redaction may name each."""
    ids = list(parts)
    for start in range(0, len(ids), MAX_ENTRIES):
        yield tuple(PartAt(each, name) for each in ids[start : start + MAX_ENTRIES] for name in parts[each])


def load_details(text: str) -> tuple[bytes, ...]:
    """Details that were kept where no backup of the log reaches, one a line: the detail itself, or the entry as
    `exhibit ledger search --kind redaction --format ndjson --parts detail` writes it. Raises MalformedLeaf, with the
    number of the line."""
    return tuple(_kept(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip())


def _kept(line: str, number: int) -> bytes:
    try:
        value = json.loads(line)
        if isinstance(value, dict) and "contents" in value:
            value = json.loads(value["contents"]["detail"])
        return parse_detail(canonical_json(value)).detail()
    except (ValueError, KeyError, TypeError, MalformedLeaf, CanonicalizationError) as exc:
        raise MalformedLeaf(f"line {number} is not a redaction: {exc}") from exc


def _parts(value: object) -> Iterable[PartAt]:
    if not isinstance(value, dict):
        raise MalformedLeaf("parts is not an object")
    for entry_id, names in value.items():
        if not is_entry_id(entry_id) or not isinstance(names, list) or not names:
            raise MalformedLeaf("parts does not name entries with their parts")
        if not all(isinstance(name, str) for name in names) or names != sorted(set(names)):
            raise MalformedLeaf("the names of parts do not rise")
        yield from (PartAt(entry_id, name) for name in names)


def _prints(value: object) -> bytes:
    try:
        data = b64decode(value, validate=True) if isinstance(value, str) else None
    except ValueError:
        data = None
    if data is None:
        raise MalformedLeaf("prints is not base64")
    return data


def _scan(value: object) -> Scan | None:
    """The scan that its document states; that it says nothing else shows where it is written again."""
    if value is None:
        return None
    try:
        body: Any = value
        lists = {name: tuple(map(_text, body[name])) for name in ("redactions", "servers", "unread")}
        counts = {name: _count(body[name]) for name in ("files", "bytes", "prints", "shared")}
        hits = tuple((_text(hit["where"]), _count(hit["prints"])) for hit in body["hits"])
    except (TypeError, KeyError, ValueError) as exc:
        raise MalformedLeaf("scan is not one") from exc
    return Scan(**lists, **counts, hits=hits)  # type: ignore[arg-type]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError("not a number of things")
    return value


def _type(qualified: str) -> dict[str, Any]:
    return {"$": qualified, "type": "xsd:QName"}
