"""Parts of an entry: commitments in the leaf, sealed content outside the tree.

    commitment = HMAC-SHA256(salt_32, "exhibit-part/1" 00 name 00 bytes), lower-case hex, over the uncompressed bytes
    sealed     = AES-256-GCM(key_32, zlib(bytes)); salt and key wrapped by the tenant's key with AES-256-GCM

Each part and each source has a salt and a key of its own, so each can be disclosed, or erased, alone. The n-th
admitted source is the part `sources/<n>`, n from 1 as its citation marker; the part `sources` is the canonical array
of their commitments.
"""

from __future__ import annotations

import hmac
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from isal import isal_zlib

from ledger.canonical import canonical_json
from ledger.errors import EntryRefused, VerificationFailed
from ledger.model import PART_NAMES, SOURCES, Kind, SealedPart

SALT_BYTES = 32
KEY_BYTES = 32
NONCE_BYTES = 12
MAX_PART_BYTES = 64 * 1024 * 1024
_ZLIB_LEVEL = 1  # of 0-3; measured: a quarter of the time of zlib's level 1, and 3 % smaller
_SOURCE = re.compile(r"sources/([1-9][0-9]{0,5})")

Entropy = Callable[[int], bytes]


def commitment(salt: bytes, name: str, data: bytes) -> str:
    """Lower-case hex of the commitment to `data` under that name."""
    return hmac.digest(salt, b"exhibit-part/1\x00" + name.encode("ascii") + b"\x00" + data, "sha256").hex()


def source_name(number: int) -> str:
    """The part name of the n-th source, n from 1."""
    return f"{SOURCES}/{number}"


def source_number(name: str) -> int | None:
    """n if `name` is that of the n-th source, else None."""
    match = _SOURCE.fullmatch(name)
    return int(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class SealedEntry:
    """The commitments that go into the leaf, and the parts that go beside the tree."""

    commitments: Mapping[str, str]
    parts: tuple[SealedPart, ...]


def seal_entry(
    kind: Kind,
    *,
    entry_id: str,
    parts: Mapping[str, bytes],
    sources: Sequence[bytes],
    tenant_key: bytes,
    entropy: Entropy,
) -> SealedEntry:
    """Commit to and seal every part of the kind, absent ones as empty bytes. Raises EntryRefused for a name that the
    kind does not have, or for a part over 64 MiB."""
    check_names(kind, parts, sources)
    sealer = _Sealer(AESGCM(tenant_key), entry_id, entropy)
    commitments: dict[str, str] = {}
    sealed: list[SealedPart] = []
    source_commitments: list[str] = []
    for number, data in enumerate(sources, start=1):
        committed, part = sealer.seal(source_name(number), data)
        source_commitments.append(committed)
        sealed.append(part)
    contents = dict(parts)
    if SOURCES in PART_NAMES[kind]:
        contents[SOURCES] = canonical_json(source_commitments)
    for name in PART_NAMES[kind]:
        commitments[name], part = sealer.seal(name, contents.get(name, b""))
        sealed.append(part)
    return SealedEntry(commitments, tuple(sealed))


def check_names(kind: Kind, parts: Mapping[str, bytes], sources: Sequence[bytes]) -> None:
    """Raise EntryRefused unless every name belongs to the kind and every part is at most 64 MiB."""
    allowed = set(PART_NAMES[kind]) - {SOURCES}
    unknown = sorted(set(parts) - allowed)
    if unknown:
        raise EntryRefused(f"an entry of kind {kind} has no part {unknown[0]!r}")
    if sources and SOURCES not in PART_NAMES[kind]:
        raise EntryRefused(f"an entry of kind {kind} has no sources")
    if any(len(data) > MAX_PART_BYTES for data in (*parts.values(), *sources)):
        raise EntryRefused(f"a part is larger than {MAX_PART_BYTES} bytes")


@dataclass(frozen=True, slots=True)
class _Sealer:
    wrapper: AESGCM
    entry_id: str
    entropy: Entropy

    def seal(self, name: str, data: bytes) -> tuple[str, SealedPart]:
        pool = self.entropy(SALT_BYTES + KEY_BYTES + 3 * NONCE_BYTES)
        salt, key, nonces = pool[:32], pool[32:64], pool[64:]
        blob = nonces[24:] + AESGCM(key).encrypt(nonces[24:], _deflate(data), _context("part", self.entry_id, name))
        part = SealedPart(
            name=name,
            salt=self._wrap("salt", name, nonces[:12], salt),
            key=self._wrap("key", name, nonces[12:24], key),
            blob=blob,
        )
        return commitment(salt, name, data), part

    def _wrap(self, what: str, name: str, nonce: bytes, secret: bytes) -> bytes:
        return nonce + self.wrapper.encrypt(nonce, secret, _context(what, self.entry_id, name))


@dataclass(frozen=True, slots=True)
class OpenedPart:
    """A part in the clear, with the salt that opens its commitment."""

    name: str
    salt: bytes
    data: bytes


def open_part(part: SealedPart, *, entry_id: str, tenant_key: bytes, committed: str) -> OpenedPart:
    """The part in the clear, its commitment checked. Raises VerificationFailed with the step `salt`, `key`, `part` or
    `commitment`."""
    wrapper = AESGCM(tenant_key)
    salt = _unseal(wrapper, part.salt, "salt", entry_id, part.name)
    key = _unseal(wrapper, part.key, "key", entry_id, part.name)
    if len(key) != KEY_BYTES or len(salt) != SALT_BYTES:
        raise VerificationFailed("key", f"salt or key of part {part.name} has the wrong length")
    packed = _unseal(AESGCM(key), part.blob, "part", entry_id, part.name)
    data = _inflate(packed, part.name)
    if not hmac.compare_digest(commitment(salt, part.name, data), committed):
        raise VerificationFailed("commitment", f"part {part.name} is not what was committed to")
    return OpenedPart(part.name, salt, data)


def parse_source_commitments(data: bytes) -> tuple[str, ...]:
    """The per-source commitments in the bytes of the part `sources`. Raises VerificationFailed."""
    body = data.decode("ascii", "replace")
    items = re.findall(r'"([0-9a-f]{64})"', body)
    if canonical_json(items) != data:
        raise VerificationFailed("sources", "the part is not a canonical array of commitments")
    return tuple(items)


def _unseal(cipher: AESGCM, sealed: bytes, what: str, entry_id: str, name: str) -> bytes:
    try:
        return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _context(what, entry_id, name))
    except (InvalidTag, ValueError) as exc:
        raise VerificationFailed(what, f"the {what} of part {name} does not open: changed, or another key") from exc


def _deflate(data: bytes) -> bytes:
    """A zlib stream (RFC 1950) of the data."""
    return isal_zlib.compress(data, _ZLIB_LEVEL)


def _inflate(packed: bytes, name: str) -> bytes:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, MAX_PART_BYTES + 1)
    except zlib.error as exc:
        raise VerificationFailed("part", f"part {name} does not decompress") from exc
    if len(data) > MAX_PART_BYTES or not inflater.eof or inflater.unused_data:
        raise VerificationFailed("part", f"part {name} does not decompress to one part")
    return data


def _context(what: str, entry_id: str, name: str) -> bytes:
    """Additional data that ties ciphertext to its place, so that sealed parts cannot be swapped."""
    return b"exhibit-seal/1\x00" + "\x00".join((what, entry_id, name)).encode()
