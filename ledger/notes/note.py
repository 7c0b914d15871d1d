"""C2SP signed notes with Ed25519 keys, and the checkpoint that is their text (c2sp.org/signed-note,
c2sp.org/tlog-checkpoint).

A note is text, an empty line, and signature lines `— <key name> base64(key id_4 || signature)`. A verifier key is
`<name>+<key id, 8 hex digits>+base64(type || public key_32)`, a private key `PRIVATE+KEY+<name>+<key id>+base64(type ||
seed_32)`; the type is 01, or 04 for a witness (c2sp.org/tlog-cosignature).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NoReturn, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey

from ledger.errors import KeyUnusable, MalformedNote, VerificationFailed
from ledger.merkle.tree import EMPTY_ROOT, HASH_BYTES, MAX_SIZE
from ledger.model import TreeHead

ED25519 = b"\x01"
COSIGNATURE = b"\x04"
MLDSA44_COSIGNATURE = b"\x06"
PUBLIC_BYTES = {ED25519: 32, COSIGNATURE: 32, MLDSA44_COSIGNATURE: 1312}
"""The length of a public key by its type; another type is an algorithm that is not known here."""
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
    """A key that verifies notes (Ed25519) or cosignatures (type 04 Ed25519, type 06 ML-DSA-44)."""

    name: str
    public: bytes
    type: bytes = ED25519

    @property
    def key_id(self) -> bytes:
        """First four bytes of SHA-256(name || newline || type || public key)."""
        return sha256(self.name.encode() + b"\n" + self.type + self.public).digest()[:4]

    def wrote(self, signature: Signature) -> bool:
        """True if a signature line names this key; whether it holds is another matter."""
        return signature.name == self.name and signature.key_id == self.key_id

    def holds(self, signature: bytes, message: bytes) -> bool:
        """True if it is this key's signature over the message."""
        try:
            if self.type == MLDSA44_COSIGNATURE:
                MLDSA44PublicKey.from_public_bytes(self.public).verify(signature, message)
            else:
                Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        except UnsupportedAlgorithm as exc:
            raise KeyUnusable(f"this machine cannot check the signatures of {self.name}: {exc}") from exc
        return True

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{b64(self.type + self.public)}"


class Signer(Protocol):
    """Signs with an Ed25519 key that it may keep elsewhere: in a file, a key service, a hardware module. `sign` returns
    the 64 bytes over exactly these message bytes, and raises only KeyUnusable. Safe to call concurrently."""

    @property
    def verifier(self) -> VerifierKey: ...

    async def sign(self, message: bytes) -> bytes: ...


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A Signer that holds its key in memory; `repr` does not show it."""

    name: str
    private: Ed25519PrivateKey
    type: bytes = ED25519

    @classmethod
    def from_seed(cls, name: str, seed: bytes, type: bytes = ED25519) -> SigningKey:
        """The key of a 32-byte seed. Raises MalformedNote for a name that a note cannot carry."""
        check_name(name)
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed), type)

    @property
    def verifier(self) -> VerifierKey:
        """The public half."""
        return VerifierKey(self.name, self.private.public_key().public_bytes_raw(), self.type)

    async def sign(self, message: bytes) -> bytes:
        """See Signer."""
        return self.private.sign(message)

    def encode(self) -> str:
        """The private key as text; keep it in a file that only its owner can read."""
        secret = b64(self.type + self.private.private_bytes_raw())
        return f"PRIVATE+KEY+{self.name}+{self.verifier.key_id.hex()}+{secret}"

    def __repr__(self) -> str:
        return f"SigningKey({self.name!r})"


def parse_signing_key(text: str, *, type: bytes = ED25519) -> SigningKey:
    """The inverse of `SigningKey.encode`. Raises MalformedNote, also for a key of another type."""
    head, _, rest = text.partition("+KEY+")
    if head != "PRIVATE":
        _refuse("not a private note key")
    name, key_id, secret = _parse_key(rest, type, "a private key")
    key = SigningKey.from_seed(name, secret, type)
    if key.verifier.key_id.hex() != key_id:
        _refuse("the key id does not belong to the key")
    return key


def parse_vkey(text: str, *, type: bytes = ED25519) -> VerifierKey:
    """A verifier key from its text. Raises MalformedNote unless it is a key of that type whose id belongs to it."""
    name, key_id, public = _parse_key(text, type, "a verifier key")
    key = VerifierKey(name, public, type)
    if key.key_id.hex() != key_id:
        _refuse("the key id does not belong to the key")
    return key


def vkey_type(text: str) -> bytes:
    """The type byte of a verifier key, of whatever algorithm. Raises MalformedNote."""
    name, _, tail = text.partition("+")
    key_id, _, encoded = tail.partition("+")
    check_name(name)
    if not re.fullmatch(r"[0-9a-f]{8}", key_id):
        _refuse("the key id is not 8 lower-case hex digits")
    data = unb64(encoded, "a verifier key")
    if not data:
        _refuse("a verifier key is empty")
    return data[:1]


def _parse_key(text: str, kind: bytes, what: str) -> tuple[str, str, bytes]:
    """Name, key id and the bytes of a key's text."""
    name, _, tail = text.partition("+")
    key_id, _, encoded = tail.partition("+")
    check_name(name)
    if not re.fullmatch(r"[0-9a-f]{8}", key_id):
        _refuse("the key id is not 8 lower-case hex digits")
    data = unb64(encoded, what)
    if data[:1] != kind or len(data) != PUBLIC_BYTES[kind] + 1:
        _refuse(f"{what} is not one of type {kind.hex()}")
    return name, key_id, data[1:]


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
    return _note(text, [(key.verifier, key.private.sign(text.encode())) for key in keys])


async def signed_note(text: str, signers: Sequence[Signer]) -> str:
    """The same with keys that may lie elsewhere. Raises MalformedNote or KeyUnusable."""
    _check_text(text)
    return _note(text, [(signer.verifier, await signer.sign(text.encode())) for signer in signers])


def signature_line(key: VerifierKey, signature: bytes) -> str:
    """A signature line without its newline."""
    return f"— {key.name} {b64(key.key_id + signature)}"


def _note(text: str, signatures: Sequence[tuple[VerifierKey, bytes]]) -> str:
    _check_text(text)
    if not signatures:
        _refuse("a note needs a signature")
    return text + "\n" + "".join(signature_line(key, signature) + "\n" for key, signature in signatures)


def parse_note(note: str) -> Note:
    """Text and signature lines, nothing verified yet. Raises MalformedNote."""
    if len(note) > MAX_NOTE_BYTES:
        _refuse("the note is too large")
    text, gap, tail = note.rpartition("\n\n")
    if not gap:
        _refuse("there is no empty line before the signatures")
    text += "\n"
    _check_text(text)
    return Note(text, parse_signatures(tail))


def parse_signatures(lines: str) -> tuple[Signature, ...]:
    """One to a hundred signature lines, each ending with a newline. Raises MalformedNote."""
    each = lines.removesuffix("\n").split("\n")
    if not lines.endswith("\n") or len(each) > MAX_SIGNATURES:
        _refuse("a signature line does not end, or there are too many")
    return tuple(_parse_signature(line) for line in each)


def verify_note(note: str, *keys: VerifierKey) -> str:
    """The text, once a signature over it by one of the keys is there and each that is there holds; lines of other keys
    are ignored. Raises MalformedNote, or VerificationFailed with the step `signature`."""
    parsed = parse_note(note)
    ours = [(key, item) for key in keys for item in parsed.signatures if key.wrote(item)]
    if not ours:
        wanted = " or ".join(f"{key.name} {key.key_id.hex()}" for key in keys)
        raise VerificationFailed("signature", f"the note has no signature of {wanted}")
    for key, item in ours:
        if not key.holds(item.signature, parsed.text.encode()):
            raise VerificationFailed("signature", f"the signature of {key.name} {key.key_id.hex()} does not hold")
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
        _refuse("the tree size is not a canonical decimal")
    data = unb64(root, "the root hash")
    if len(data) != HASH_BYTES:
        _refuse("the root hash is not 32 bytes long")
    if size == "0" and data != EMPTY_ROOT:
        _refuse("the root hash is not that of the empty tree")
    return origin, TreeHead(int(size), data)


def verify_checkpoint(note: str, *keys: VerifierKey, origin: str) -> TreeHead:
    """The tree head that one of the keys signed for the log `origin`. Raises as `verify_note` does, and
    VerificationFailed with the step `origin`."""
    named, head = parse_checkpoint_text(verify_note(note, *keys))
    if named != origin:
        raise VerificationFailed("origin", f"the checkpoint is of {named}, not of {origin}")
    return head


def _check_text(text: str) -> None:
    if not text.endswith("\n"):
        _refuse("the text does not end with a newline")
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
