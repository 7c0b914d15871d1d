"""A reader of what Exhibit keeps, written from docs/formats.md alone: it imports nothing of Exhibit."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import sqlite3
import struct
import tomllib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

FORMS = {
    ("exhibit.ledger/1", "intent"): "question context scope policy.query",
    ("exhibit.ledger/1", "outcome"): "candidates bundle sources calls policy.evidence policy.answer answer prov replay",
    ("exhibit.ledger/1", "retrieval"): (
        "question context scope candidates bundle sources calls policy.query policy.evidence answer prov replay"
    ),
    ("exhibit.ledger/1", "redaction"): "detail prov",
    ("exhibit.ledger/1", "key"): "detail",
    ("exhibit.ledger/1", "config"): "detail",
    ("exhibit.ledger/1", "incident"): "detail",
}

FIELDS = {"v", "kind", "id", "t", "tenant", "replica", "rseq", "req", "parts", "refs", "seen"}


class Wrong(Exception):
    """Something is not as the page says."""


def need(holds: bool, what: str) -> None:
    if not holds:
        raise Wrong(what)


def canonical(value: object) -> bytes:
    """RFC 8785 for values without fractions and with ASCII keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def unbase64(text: str) -> bytes:
    """Bytes of base64 in its one form."""
    data = base64.b64decode(text, validate=True)
    need(base64.b64encode(data).decode() == text, "base64 in its one form")
    return data


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def number(path: Path, name: str) -> int:
    return int(rows(path, f"PRAGMA {name}")[0][0])


# ---------------------------------------------------------------- keys, notes, checkpoints


class Key:
    """A verifier key."""

    def __init__(self, text: str) -> None:
        self.name, key_id, packed = text.strip().rsplit("+", 2) if text.count("+") == 2 else text.strip().split("+", 2)
        raw = unbase64(packed)
        self.type, self.public = raw[:1], raw[1:]
        self.key_id = sha256(self.name.encode() + b"\n" + raw)[:4]
        need(self.key_id.hex() == key_id, "the key id is that of the key")

    def verify(self, signature: bytes, message: bytes) -> None:
        Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)


def public_of(private: str) -> str:
    """The verifier key of a private key's line."""
    head, packed = private.strip().removeprefix("PRIVATE+KEY+").split("+", 2)[:2], private.strip().split("+", 4)[4]
    raw = unbase64(packed)
    seed = Ed25519PrivateKey.from_private_bytes(raw[1:])
    public = raw[:1] + seed.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return f"{head[0]}+{head[1]}+{base64.b64encode(public).decode()}"


def checkpoint(note: str, keys: Sequence[Key]) -> tuple[str, int, bytes]:
    """Origin, size and root of a note that one of the keys signed."""
    text, _, lines = note.partition("\n\n")
    text += "\n"
    signed = 0
    for line in lines.splitlines():
        need(line.startswith("— "), "a signature line")
        name, packed = line[2:].rsplit(" ", 1)
        raw = unbase64(packed)
        for key in keys:
            if (key.name, key.key_id) == (name, raw[:4]):
                key.verify(raw[4:], text.encode())
                signed += 1
    need(signed > 0, "a signature of a known key")
    origin, size, root = text.splitlines()[:3]
    return origin, int(size), unbase64(root)


def cosigned(text: str, line: str, witness: Key) -> int:
    """The second of a witness's line."""
    raw = unbase64(line.rsplit(" ", 1)[1])
    need(raw[:4] == witness.key_id, "the witness's line")
    (seconds,) = struct.unpack(">Q", raw[4:12])
    witness.verify(raw[12:], f"cosignature/v1\ntime {seconds}\n{text}".encode())
    return int(seconds)


# ---------------------------------------------------------------- leaves, tree, parts


def leaf(data: bytes) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(data)
    need(len(data) <= 4096 and canonical(body) == data and data.isascii(), "a leaf is canonical and small")
    need(set(body) == FIELDS, "the keys of a leaf")
    need((body["v"], body["kind"]) in FORMS, "a known form")
    need(set(body["parts"]) == set(FORMS[body["v"], body["kind"]].split()), "the parts of the form")
    return body


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data)


def root(hashes: Sequence[bytes]) -> bytes:
    """RFC 6962."""
    if not hashes:
        return sha256(b"")
    if len(hashes) == 1:
        return hashes[0]
    half = 1 << (len(hashes) - 1).bit_length() - 1
    return sha256(b"\x01" + root(hashes[:half]) + root(hashes[half:]))


def commitment(salt: bytes, name: str, data: bytes) -> str:
    return hmac.digest(salt, b"exhibit-part/1\x00" + name.encode() + b"\x00" + data, "sha256").hex()


def unbox(key: bytes, box: bytes, what: str, entry_id: str, name: str) -> bytes:
    about = b"exhibit-seal/1\x00" + "\x00".join((what, entry_id, name)).encode()
    return AESGCM(key).decrypt(box[:12], box[12:], about)


def check_parts(body: Mapping[str, Any], parts: Mapping[str, tuple[bytes, bytes]]) -> None:
    """Each part is what the leaf committed to; each source what the part `sources` lists."""
    sources = json.loads(parts["sources"][1]) if "sources" in parts else None
    for name, (salt, data) in parts.items():
        if name.startswith("sources/"):
            need(sources is not None, "a source comes with the list")
            need(
                sources[int(name.removeprefix("sources/")) - 1] == commitment(salt, name, data), "a source's commitment"
            )
        else:
            need(body["parts"][name] == commitment(salt, name, data), f"the commitment of {name}")


class Log:
    """The embedded log of a home."""

    def __init__(self, home: Path) -> None:
        self.file = home / "ledger.sqlite"
        need(
            number(self.file, "application_id") == 0x45584C47 and number(self.file, "user_version") == 2,
            "the log's version",
        )
        stored = rows(
            self.file, "SELECT idx, id, kind, tenant, req, replica, rseq, hash, leaf FROM leaves ORDER BY idx"
        )
        self.leaves = [leaf(bytes(row[8])) for row in stored]
        self.hashes = [leaf_hash(bytes(row[8])) for row in stored]
        self.keys = [Key(public_of(path.read_text())) for path in sorted((home / "keys").glob("log*.key"))]
        self.tenants = {
            path.stem.removeprefix("tenant-"): bytes.fromhex(path.read_text().strip())
            for path in (home / "keys").glob("tenant-*.key")
        }
        for place, (row, body) in enumerate(zip(stored, self.leaves, strict=True)):
            need(row[0] == place and bytes(row[7]) == self.hashes[place], "index and hash")
            need(
                row[1:7] == tuple(body[name] for name in ("id", "kind", "tenant", "req", "replica", "rseq")),
                "the columns",
            )

    def check(self) -> None:
        """Counts, references, tree heads, checkpoints, and every part."""
        places = {body["id"]: place for place, body in enumerate(self.leaves)}
        counts: dict[str, int] = {}
        for place, body in enumerate(self.leaves):
            counts[body["replica"]] = counts.get(body["replica"], 0) + 1
            need(body["rseq"] == counts[body["replica"]], "the writer's count has no gap")
            for ref in body["refs"]:
                need(places[ref["id"]] < place and self.hashes[places[ref["id"]]].hex() == ref["leaf"], "a reference")
            seen = body["seen"]
            need(
                seen["size"] <= place and root(self.hashes[: seen["size"]]).hex() == seen["root"],
                "the head that was seen",
            )
        for size, stored, note in rows(self.file, "SELECT size, root, note FROM checkpoints"):
            need(
                checkpoint(note, self.keys)[1:] == (size, root(self.hashes[:size]))
                and bytes(stored) == root(self.hashes[:size]),
                "a checkpoint",
            )
        for place, body in enumerate(self.leaves):
            check_parts(body, self.parts(place))

    def parts(self, place: int) -> dict[str, tuple[bytes, bytes]]:
        """Salt and content of each part that was not erased."""
        sql = "SELECT s.name, s.salt, s.key, b.blob FROM secrets s JOIN blobs b USING (idx, name) WHERE idx = "
        body = self.leaves[place]
        tenant = self.tenants[body["tenant"]]
        found = {}
        for name, salt_box, key_box, box in rows(self.file, f"{sql}{place}"):
            salt = unbox(tenant, salt_box, "salt", body["id"], name)
            key = unbox(tenant, key_box, "key", body["id"], name)
            found[name] = (salt, zlib.decompress(unbox(key, box, "part", body["id"], name)))
        return found


# ---------------------------------------------------------------- receipts and exports


def receipt(text: str, keys: Sequence[Key]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The leaf and the disclosed parts of a receipt that holds."""
    head, _, note = text.partition("\n\n")
    first, extra_line, index_line, *proof = head.split("\n")
    need(first == "c2sp.org/tlog-proof@v1", "the first line")
    extra_bytes = unbase64(extra_line.removeprefix("extra "))
    extra = json.loads(extra_bytes)
    need(canonical(extra) == extra_bytes and extra["v"] == "exhibit.receipt/1", "the extra data")
    _, size, wanted = checkpoint(note, keys)
    data = unbase64(extra["leaf"])
    fn, sn, found = int(index_line.removeprefix("index ")), size - 1, leaf_hash(data)
    for sibling in (unbase64(line) for line in proof):
        need(sn != 0, "the proof's length")
        if fn & 1 or fn == sn:
            found = sha256(b"\x01" + sibling + found)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            found = sha256(b"\x01" + found + sibling)
        fn, sn = fn >> 1, sn >> 1
    need(sn == 0 and found == wanted, "the inclusion proof")
    body = leaf(data)
    disclosed = {each["name"]: (unbase64(each["salt"]), unbase64(each["bytes"])) for each in extra["disclosures"]}
    need(list(disclosed) == sorted(disclosed), "the disclosures rise by name")
    check_parts(body, disclosed)
    return body, {name: content for name, (_, content) in disclosed.items()}


def export(folder: Path) -> list[bytes]:
    """The leaves of an export whose tiles and checkpoint fit them."""
    keys = [Key(line) for line in (folder / "vkey").read_text().splitlines()]
    _, size, wanted = checkpoint((folder / "checkpoint").read_text(), keys)
    leaves: list[bytes] = []
    hashes = b""
    for n, width in tiles(size):
        name = f"{n:03}" + (f".p/{width}" if width < 256 else "")
        hashes += (folder / "tile/0" / name).read_bytes()
        bundle = (folder / "tile/entries" / name).read_bytes()
        while bundle:
            (length,) = struct.unpack(">H", bundle[:2])
            leaves.append(bundle[2 : 2 + length])
            bundle = bundle[2 + length :]
    need(b"".join(map(leaf_hash, leaves)) == hashes and len(leaves) == size, "the tiles hold the hashes of the leaves")
    need(root([leaf_hash(each) for each in leaves]) == wanted, "the root")
    return leaves


def tiles(size: int) -> Iterable[tuple[int, int]]:
    """Number and width of each tile of a log of fewer than 256,000 entries."""
    return [(n, min(256, size - n * 256)) for n in range((size + 255) // 256)]


# ---------------------------------------------------------------- the rest of a home


def settings(path: Path) -> dict[str, Any]:
    tree = tomllib.loads(path.read_text("utf-8"))
    need(tree.pop("version", 1) == 1, "the version of the settings")
    return tree


def bundle_digest(folder: Path) -> str:
    rego = folder / "rego"
    files = {
        path.relative_to(rego).as_posix(): sha256(path.read_bytes()).hex()
        for path in sorted(rego.rglob("*"))
        if path.name == "data.json" or (path.suffix == ".rego" and not path.name.endswith("_test.rego"))
    }
    manifest = json.loads((folder / "wasm" / "manifest.json").read_bytes())
    need(manifest.get("version", 1) == 1, "the version of the policy manifest")
    need(sha256((folder / "wasm" / "bundle.wasm").read_bytes()).hex() == manifest["wasm_sha256"], "the module")
    need(all(manifest["files"][name] == found for name, found in files.items() if name.endswith(".rego")), "the Rego")
    return "sha256:" + sha256(canonical(files)).hex()


def policies(home: Path) -> dict[str, Any]:
    state: dict[str, Any] = json.loads((home / "policy" / "state.json").read_bytes())
    need(state.get("version", 1) == 1, "the version of the policy's state")
    for folder in (home / "policy" / "bundles").iterdir():
        need(bundle_digest(folder) == f"sha256:{folder.name}", "a bundle is what its name says")
    return state


def documents(home: Path) -> int:
    """How many records are the slices of their documents that they say."""
    file = home / "record.sqlite"
    need(number(file, "user_version") == 1, "the store's version")
    texts = {}
    for document_id, text, digest in rows(file, "SELECT document_id, text, text_sha256 FROM document"):
        need("sha256:" + sha256(text).hex() == digest, "a document's digest")
        texts[document_id] = text
    found = rows(file, "SELECT document_id, text, start_byte, end_byte FROM record")
    for document_id, text, start, end in found:
        need(texts[document_id][start:end].decode() == text, "a record is a slice of its document")
    return len(found)


def api_key(home: Path, token: str) -> dict[str, Any]:
    """What a token stands for."""
    prefix, key_id, secret = token.split("_", 2)
    need(prefix == "exk" and number(home / "api-keys.sqlite", "user_version") in (0, 1), "a token and its file")
    sql = "SELECT id, digest, name, roles, revoked_ms FROM api_key"
    for found, digest, name, roles, revoked_ms in rows(home / "api-keys.sqlite", sql):
        if found == key_id and hmac.compare_digest(digest, sha256(secret.encode())):
            return {"name": name, "roles": json.loads(roles), "revoked": revoked_ms is not None}
    raise Wrong("no key of that token")


def repeats(home: Path) -> dict[str, str]:
    """The entry that answers each idempotency key."""
    need(number(home / "requests.sqlite", "user_version") in (0, 1), "the version of the idempotency records")
    return dict(rows(home / "requests.sqlite", "SELECT key, entry_id FROM repeat WHERE entry_id IS NOT NULL"))
