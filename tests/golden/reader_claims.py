"""A reader of promises, attestations, redactions and provenance, written from docs/formats.md alone like `reader.py`, whose checks of notes, receipts and leaves it uses."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from tests.golden.reader import Key, Wrong, leaf, leaf_hash, need, receipt, sha256, unbase64

PROMISE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
MEMBERS = {
    "v",
    "entry_id",
    "leaf_hash",
    "answer_digest",
    "replica",
    "rseq",
    "time",
    "merge_delay_s",
    "key",
    "signature",
}
BESIDE = {"promise", "timings_ms", "took_ms"}


# ---------------------------------------------------------------- RFC 8785


def canonical(value: Any) -> str:
    """The canonical JSON of any value."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return (
            "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{canonical(value[name])}" for name in names) + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """A number as ECMAScript writes it."""
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{value!r}".partition("e")
    digits, point = mantissa.lstrip("-").replace(".", ""), mantissa.lstrip("-").find(".")
    place = (point if point >= 0 else len(digits)) + int(exponent or 0)
    place, digits = place - (len(digits) - len(digits.lstrip("0"))), digits.strip("0")
    sign = "-" if value < 0 else ""
    if 0 < place <= 21:
        return sign + digits[:place].ljust(place, "0") + ("." + digits[place:] if place < len(digits) else "")
    if -6 < place <= 0:
        return sign + "0." + "0" * -place + digits
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if place > 0 else '-'}{abs(place - 1)}"


# ---------------------------------------------------------------- promises


def promise(body: Mapping[str, Any], keys: Sequence[Key]) -> dict[str, Any]:
    """The promise of a saved body, signed for this body."""
    made = body["promise"]
    need(set(made) == MEMBERS and made["v"] == "exhibit.promise/1", "the members of a promise")
    need(PROMISE.fullmatch(made["time"]) is not None, "the time")
    need(all(type(made[name]) is int and made[name] > 0 for name in ("rseq", "merge_delay_s")), "the counts")
    key = next((each for each in keys if f"{each.name}+{each.key_id.hex()}" == made["key"]), None)
    if key is None:
        raise Wrong("a key of the log")
    told = ("entry_id", "leaf_hash", "answer_digest", "replica", "rseq", "time", "merge_delay_s")
    lines = ["exhibit.promise/1", key.name, *(str(made[name]) for name in told)]
    need(not any("\n" in line for line in lines), "each member is one line")
    key.verify(unbase64(made["signature"]), "".join(f"{line}\n" for line in lines).encode())
    said = {name: value for name, value in body.items() if name not in BESIDE}
    if isinstance(said.get("trace"), dict):
        said["trace"] = {name: value for name, value in said["trace"].items() if name not in BESIDE}
    digest = hashlib.sha256(canonical(said).encode()).hexdigest()
    need(made["answer_digest"] == f"sha256:{digest}", "the promise is for this body")
    return dict(made)


def verdict(made: Mapping[str, Any], leaves: Sequence[bytes], *, whole: bool) -> str:
    """`covered`, `broken` or `open`, by leaves under a checkpoint that holds; `whole`: they are all of its tree."""
    due_ms = milliseconds(made["time"]) + made["merge_delay_s"] * 1000
    found = "open"
    for data in leaves:
        body = leaf(data)
        if leaf_hash(data).hex() == made["leaf_hash"]:
            same = (body["id"], body["replica"], body["rseq"]) == (made["entry_id"], made["replica"], made["rseq"])
            return "covered" if same and body["t"] == milliseconds(made["time"]) else "broken"
        own = body["replica"] == made["replica"]
        if (
            body["id"] == made["entry_id"]
            or (own and body["rseq"] == made["rseq"])
            or (whole and ((own and body["rseq"] > made["rseq"]) or body["t"] > due_ms))
        ):
            found = "broken"
    return found


def milliseconds(text: str) -> int:
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)


# ---------------------------------------------------------------- attestations


def attestation(data: bytes, keys: Sequence[Key]) -> dict[str, str]:
    """The subjects, each with its SHA-256, of an attestation that holds."""
    envelope = json.loads(data)
    need(set(envelope) == {"payload", "payloadType", "signatures"}, "the members of an envelope")
    kind, payload = envelope["payloadType"], unbase64(envelope["payload"])
    need(kind == "application/vnd.in-toto+json", "the type of the payload")
    signed = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(payload), payload)
    by_id = {key.key_id.hex(): key for key in keys}
    ids = [each["keyid"] for each in envelope["signatures"]]
    need(len(set(ids)) == len(ids), "no key id twice")
    own = [each for each in envelope["signatures"] if each["keyid"] in by_id]
    need(len(own) > 0, "a signature of the log's key")
    for each in own:
        by_id[each["keyid"]].verify(unbase64(each["sig"]), signed)
    statement = json.loads(payload)
    need(canonical(statement).encode() == payload, "the canonical form of the statement")
    text = statement["predicate"]["receipt"]
    body, parts = receipt(text, keys)
    extra = json.loads(unbase64(text.split("\n")[1].removeprefix("extra ")))
    contents = {"leaf": unbase64(extra["leaf"]), **parts}
    moment = datetime.fromtimestamp(body["t"] // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    need(
        statement
        == {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [
                {"name": f"{body['id']}/{name}", "digest": {"sha256": sha256(content).hex()}}
                for name, content in contents.items()
            ],
            "predicateType": "urn:exhibit:entry/1",
            "predicate": {
                "log": text.partition("\n\n")[2].split("\n")[0],
                "entry_id": body["id"],
                "kind": body["kind"],
                "time": f"{moment}.{body['t'] % 1000:03}Z",
                "receipt": text,
            },
        },
        "the statement follows from the receipt",
    )
    return {each["name"]: each["digest"]["sha256"] for each in statement["subject"]}


# ---------------------------------------------------------------- redactions and provenance


def pseudonym(key: bytes, domain: str, value: str) -> str:
    """The pseudonym of a value in a domain, under the key of `pseudonym.key`."""
    message = b"exhibit-pseudonym/1\0" + domain.encode() + b"\0" + value.encode()
    return hmac.new(key, message, hashlib.sha256).digest()[:16].hex()


def answer_commitment(key: bytes, entry_id: str, answer: bytes) -> str:
    """What the part `prov` names the part `answer` by."""
    return pseudonym(key, "content", f"{entry_id} sha256:{sha256(answer).hex()}")


def redaction(body: Mapping[str, Any], detail: bytes) -> dict[str, list[str]]:
    """The parts that went, by entry, of a redaction whose leaf refers to each."""
    told = json.loads(detail)
    need(canonical(told).encode() == detail, "the canonical form of the detail")
    members = {"v", "target", "name", "basis", "parts"}
    later = told["v"] == "exhibit.redaction/2"
    need(later or told["v"] == "exhibit.redaction/1", "the version of the redaction")
    need(set(told) == members | ({"prints", "scan"} if later else set()), "the members of a redaction")
    need(told["target"] in ("entry", "subject", "source"), "the target")
    need(all(names == sorted(names) for names in told["parts"].values()), "the parts rise")
    need(later or bool(told["parts"]), "something went")
    redacted = {ref["id"] for ref in body["refs"] if ref["rel"] == "redacts"}
    need(redacted == set(told["parts"]), "the entries that are referred to")
    if later:
        prints = base64.b64decode(told["prints"], validate=True)
        pieces = [prints[at : at + 12] for at in range(0, len(prints), 12)]
        need(len(prints) % 12 == 0 and pieces == sorted(pieces), "the fingerprints rise")
        need(told["scan"] is None or (not told["parts"] and not pieces), "what a search found stands alone")
    return dict(told["parts"])
