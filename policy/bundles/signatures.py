"""Signatures of bundles in OPA's format: `.signatures.json` holds a JSON Web Token over the digest of every file.

A folder's signature covers rules and their tests, data, module, manifest and vectors; an archive's covers what an OPA
server reads. The algorithm follows from the pinned key, never from the token, and each file counts: one that is not
named, or named and not there, is as wrong as one that was changed.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, RSAKey

from policy.bundles.archive import SIGNATURES, bundle_files, signature_of
from policy.canonical import canonical
from policy.errors import BundleUnsigned, InputRejected, SigningKeyInvalid

_MOST_BYTES = 1_000_000
_EC = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_RSA_BITS = 2048
_HASHES = {"SHA-256": hashlib.sha256, "SHA-384": hashlib.sha384, "SHA-512": hashlib.sha512}
_BLOCK = re.compile(r"-----BEGIN [A-Z ]{3,30}-----[^-]{1,20000}-----END [A-Z ]{3,30}-----")


@dataclass(frozen=True, slots=True)
class Key:
    """An RSA or elliptic key with the algorithms that it may be used with, the one for signing first."""

    key: RSAKey | ECKey
    algorithms: tuple[str, ...]


def verification_keys(pem: str) -> tuple[Key, ...]:
    """The public keys of a PEM file. Raises SigningKeyInvalid for one without any, and for a key that will not do."""
    found = tuple(_key(block.group()) for block in _BLOCK.finditer(pem))
    if not found:
        raise SigningKeyInvalid("the file of verification keys holds no key in PEM form")
    return found


def signing_key(pem: str) -> Key:
    """The private key of a PEM file. Raises SigningKeyInvalid."""
    [*found] = verification_keys(pem)
    if len(found) != 1 or not found[0].key.is_private:
        raise SigningKeyInvalid("the file must hold one private key in PEM form, not encrypted")
    return found[0]


def sign_folder(folder: Path, key: Key) -> int:
    """Write the signature of the bundle below `folder` beside its parts; how many files it covers. Raises OSError."""
    files = {path: file.read_bytes() for path, file in bundle_files(folder)}
    (folder / SIGNATURES).write_bytes(signatures(files, key))
    return len(files)


def require_signed(folder: Path, keys: Sequence[Key]) -> None:
    """Raise BundleUnsigned unless one of the keys signed the bundle below `folder`, every file of it."""
    try:
        files = {path: file.read_bytes() for path, file in bundle_files(folder)}
    except OSError as exc:
        raise BundleUnsigned(f"the bundle cannot be read: {exc.strerror}") from exc
    require_signature(files, signature_of(folder), keys)


def signatures(files: Mapping[str, bytes], key: Key) -> bytes:
    """The content of `.signatures.json` for these files, by path with slashes."""
    told = [
        {"name": name, "hash": _digest(name, content, "SHA-256"), "algorithm": "SHA-256"}
        for name, content in sorted(files.items())
    ]
    header = {"alg": key.algorithms[0], "typ": "JWT"}
    token = jws.serialize_compact(header, canonical({"files": told}), key.key, algorithms=[key.algorithms[0]])
    return json.dumps({"signatures": [token]}, indent=1).encode()


def require_signature(files: Mapping[str, bytes], document: bytes | None, keys: Sequence[Key]) -> None:
    """Raise BundleUnsigned unless `document`, the content of `.signatures.json`, holds a signature by one of the keys,
    over exactly these files."""
    if document is None:
        raise BundleUnsigned("the bundle is not signed, and only signed ones may decide here: `exhibit policy sign`")
    signed = _payload(_token(document), keys)
    if missing := sorted(files.keys() ^ signed.keys()):
        raise BundleUnsigned(f"{missing[0]} is {'not signed' if missing[0] in files else 'signed and not there'}")
    for name, content in files.items():
        algorithm, told = signed[name]
        if algorithm not in _HASHES or _digest(name, content, algorithm) != told:
            raise BundleUnsigned(f"{name} is not what was signed")


def _key(pem: str) -> Key:
    for kind in (ECKey, RSAKey):
        try:
            with warnings.catch_warnings():  # of short keys, which are refused below
                warnings.simplefilter("ignore", SecurityWarning)
                key = kind.import_key(pem)
        except (ValueError, TypeError, JoseError):
            continue
        if isinstance(key, ECKey) and key.curve_name in _EC:
            return Key(key, (_EC[key.curve_name],))
        if isinstance(key, RSAKey) and key.raw_value.key_size >= _RSA_BITS:
            return Key(key, _RSA)
    raise SigningKeyInvalid(f"a key is RSA of {_RSA_BITS} bits or more, or elliptic over {', '.join(_EC)}")


def _token(document: bytes) -> str:
    try:
        told: Any = json.loads(document) if len(document) <= _MOST_BYTES else None
        [token] = told["signatures"]
    except (ValueError, TypeError, KeyError, RecursionError) as exc:
        raise BundleUnsigned(f"{SIGNATURES} does not hold one signature") from exc
    if not isinstance(token, str):
        raise BundleUnsigned(f"{SIGNATURES} does not hold one signature")
    return token


def _payload(token: str, keys: Sequence[Key]) -> dict[str, tuple[str, str]]:
    """Algorithm and digest by file, from a token that one of the keys signed."""
    for each in keys:
        try:
            payload = jws.deserialize_compact(token, each.key, algorithms=list(each.algorithms)).payload
        except (JoseError, ValueError, TypeError):
            continue
        return dict(_files(payload))
    raise BundleUnsigned("none of the pinned keys signed the bundle")


def _files(payload: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    try:
        for each in json.loads(payload)["files"]:
            yield str(each["name"]), (str(each["algorithm"]), str(each["hash"]))
    except (ValueError, TypeError, KeyError) as exc:
        raise BundleUnsigned("what was signed names no files") from exc


def _digest(name: str, content: bytes, algorithm: str) -> str:
    """The digest as OPA computes it: of a structured document's value, with sorted keys and without spaces."""
    if name.rpartition("/")[2] in ("data.json", ".manifest"):
        try:
            content = canonical(json.loads(content))
        except (ValueError, InputRejected) as exc:
            raise BundleUnsigned(f"{name} is not plain JSON") from exc
    return _HASHES[algorithm](content).hexdigest()
