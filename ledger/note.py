"""C2SP signed notes with Ed25519 keys, and the checkpoint that is their text (c2sp.org/signed-note,
c2sp.org/tlog-checkpoint).

A note is text, an empty line, and signature lines `— <key name> base64(key id_4 || signature)`. A verifier key is
`<name>+<key id, 8 hex digits>+base64(01 || public key_32)`, a private key `PRIVATE+KEY+<name>+<key id>+base64(01 ||
seed_32)`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger.errors import MalformedNote, VerificationFailed
from ledger.model import TreeHead
from ledger.tree import HASH_BYTES, MAX_SIZE

ED25519 = b"\x01"
MAX_NOTE_BYTES = 1_000_000
MAX_SIGNATURES = 100
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature line: key name, four bytes of key id, the signature itself."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed note: the text that is signed (it ends with a newline), and the signature lines."""

    text: str
    signatures: tuple[Signature, ...]


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """An Ed25519 key that verifies notes."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """First four bytes of SHA-256(name || newline || 01 || public key)."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{b64(ED25519 + self.public)}"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An Ed25519 key that signs notes; `repr` does not show it."""

    name: str
    private: Ed25519PrivateKey

    @classmethod
    def from_seed(cls, name: str, seed: bytes) -> SigningKey:
        """The key of a 32-byte seed. Raises MalformedNote for a name that a note cannot carry."""
        check_name(name)
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    @property
    def verifier(self) -> VerifierKey:
        """The public half."""
        return VerifierKey(self.name, self.private.public_key().public_bytes_raw())

    def encode(self) -> str:
        """The private key as text; keep it in a file that only its owner can read."""
        return f"PRIVATE+KEY+{self.name}+{self.verifier.key_id.hex()}+{b64(ED25519 + self.private.private_bytes_raw())}"

    def __repr__(self) -> str:
        return f"SigningKey({self.name!r})"


def parse_signing_key(text: str) -> SigningKey:
    """The inverse of `SigningKey.encode`. Raises MalformedNote."""
    head, _, rest = text.partition("+KEY+")
    name, _, tail = rest.partition("+")
    key_id, _, encoded = tail.partition("+")
    if head != "PRIVATE" or not encoded:
        _refuse("not a private note key")
    data = unb64(encoded, "the private key")
    if len(data) != HASH_BYTES + 1 or data[:1] != ED25519:
        _refuse("not an Ed25519 private key")
    key = SigningKey.from_seed(name, data[1:])
    if key.verifier.key_id.hex() != key_id:
        _refuse("the key id does not belong to the key")
    return key


def parse_vkey(text: str) -> VerifierKey:
    """A verifier key from its text. Raises MalformedNote unless it is an Ed25519 key whose id belongs to it."""
    name, _, tail = text.partition("+")
    key_id, _, encoded = tail.partition("+")
    check_name(name)
    if not re.fullmatch(r"[0-9a-f]{8}", key_id):
        _refuse("the key id is not 8 lower-case hex digits")
    data = unb64(encoded, "the public key")
    if len(data) != HASH_BYTES + 1 or data[:1] != ED25519:
        _refuse("not an Ed25519 verifier key")
    key = VerifierKey(name, data[1:])
    if key.key_id.hex() != key_id:
        _refuse("the key id does not belong to the key")
    return key


def check_name(name: str) -> None:
    """Raise MalformedNote unless `name` can name a key: not empty, no space, no plus sign, no control character."""
    if not name or "+" in name or any(char.isspace() or ord(char) < 0x20 for char in name):
        _refuse("a key name is empty or holds a space, a control character or a plus sign")
    try:
        name.encode()
    except UnicodeEncodeError:
        _refuse("a key name is not valid UTF-8")


def sign_note(text: str, keys: Sequence[SigningKey]) -> str:
    """The signed note over `text`. Raises MalformedNote if the text cannot be that of a note."""
    _check_text(text)
    lines = [f"— {key.name} {b64(key.verifier.key_id + key.private.sign(text.encode()))}\n" for key in keys]
    if not lines:
        _refuse("a note needs a signature")
    return text + "\n" + "".join(lines)


def parse_note(note: str) -> Note:
    """Text and signature lines, nothing verified yet. Raises MalformedNote."""
    if len(note) > MAX_NOTE_BYTES:
        _refuse("the note is too large")
    text, gap, tail = note.rpartition("\n\n")
    if not gap:
        _refuse("there is no empty line before the signatures")
    text += "\n"
    _check_text(text)
    if not tail.endswith("\n"):
        _refuse("the last signature line does not end")
    lines = tail[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        _refuse("too many signatures")
    return Note(text, tuple(_parse_signature(line) for line in lines))


def verify_note(note: str, key: VerifierKey) -> str:
    """The text, once a signature of `key` over it holds; lines of other keys are ignored. Raises MalformedNote, or
    VerificationFailed with the step `signature`."""
    parsed = parse_note(note)
    ours = [item for item in parsed.signatures if item.name == key.name and item.key_id == key.key_id]
    if not ours:
        raise VerificationFailed("signature", f"the note bears no signature of {key.name} {key.key_id.hex()}")
    public = Ed25519PublicKey.from_public_bytes(key.public)
    try:
        for item in ours:
            public.verify(item.signature, parsed.text.encode())
    except (InvalidSignature, ValueError) as exc:
        raise VerificationFailed("signature", f"the signature of {key.name} does not hold") from exc
    return parsed.text


def checkpoint_text(origin: str, head: TreeHead) -> str:
    """The text of a checkpoint: origin, size, root."""
    check_name(origin)
    return f"{origin}\n{head.size}\n{b64(head.root)}\n"


def parse_checkpoint_text(text: str) -> tuple[str, TreeHead]:
    """Origin and tree head; extension lines are allowed and ignored. Raises MalformedNote."""
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] or not all(lines[:-1]):
        _refuse("a checkpoint is at least three lines, none of them empty")
    origin, size, root = lines[:3]
    if not _DECIMAL.fullmatch(size) or int(size) > MAX_SIZE:
        _refuse("the tree size is no canonical decimal")
    data = unb64(root, "the root hash")
    if len(data) != HASH_BYTES:
        _refuse("the root hash is not 32 bytes long")
    return origin, TreeHead(int(size), data)


def verify_checkpoint(note: str, key: VerifierKey, *, origin: str) -> TreeHead:
    """The tree head that `key` signed for the log `origin`. Raises MalformedNote or VerificationFailed."""
    named, head = parse_checkpoint_text(verify_note(note, key))
    if named != origin:
        raise VerificationFailed("origin", f"the checkpoint is of {named}, not of {origin}")
    return head


def _check_text(text: str) -> None:
    if len(text) < 2 or not text.endswith("\n") or text.startswith("\n"):
        _refuse("the text is empty or does not end with a newline")
    if any(ord(char) < 0x20 and char != "\n" for char in text):
        _refuse("the text holds a control character")
    try:
        text.encode()
    except UnicodeEncodeError:
        _refuse("the text is not valid UTF-8")


def _parse_signature(line: str) -> Signature:
    dash, _, rest = line.partition(" ")
    name, _, encoded = rest.partition(" ")
    if dash != "—":
        _refuse("a signature line does not start with an em dash and a space")
    check_name(name)
    data = unb64(encoded, "a signature")
    if len(data) < 5:
        _refuse("a signature is too short")
    return Signature(name, data[:4], data[4:])


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def unb64(text: str, what: str) -> bytes:
    """Standard base64 in its one canonical form (padding there, unused bits zero)."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as exc:
        raise MalformedNote(f"{what} is not base64") from exc
    if b64(data) != text:
        _refuse(f"{what} is not canonical base64")
    return data


def _refuse(reason: str) -> NoReturn:
    raise MalformedNote(reason)
