"""Signatures of bundles in OPA's format: what was signed verifies, whatever is otherwise does not."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jws

from policy.bundles.signatures import Key, require_signature, signatures, signing_key, verification_keys
from policy.errors import BundleUnsigned, SigningKeyInvalid

FILES: Mapping[str, bytes] = {
    "rego/kfm/ai/query.rego": b"package kfm.ai\n",
    "rego/kfm/config/data.json": b'{"b": 1, "a": [true, null, "x"]}',
    "wasm/bundle.wasm": b"\0asm",
}
PEM = serialization.Encoding.PEM
Private = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey
MADE: Mapping[str, Callable[[], Private]] = {
    "P-256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "P-384": lambda: ec.generate_private_key(ec.SECP384R1()),
    "P-521": lambda: ec.generate_private_key(ec.SECP521R1()),
    "RSA": lambda: rsa.generate_private_key(65537, 2048),
}


def pair(made: Private) -> tuple[str, str]:
    """Private and public key as PEM texts."""
    plain = serialization.NoEncryption()
    private = made.private_bytes(PEM, serialization.PrivateFormat.PKCS8, plain).decode()
    public = made.public_key().public_bytes(PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    return private, public


PRIVATE, PUBLIC = pair(MADE["P-256"]())
KEY, KEYS = signing_key(PRIVATE), verification_keys(PUBLIC)
SIGNED = signatures(FILES, KEY)


@pytest.mark.parametrize("kind", MADE)
def test_what_was_signed_verifies_with_any_of_the_keys(kind: str) -> None:
    private, public = pair(MADE[kind]())
    signed = signatures(FILES, signing_key(private))
    for pinned in (public, PUBLIC + public, f"the keys of publishers\n{public}\n{PUBLIC}"):
        require_signature(FILES, signed, verification_keys(pinned))


def test_a_token_of_the_format_is_read_whoever_wrote_it() -> None:
    """As `opa sign` writes it: structured documents by their values."""
    hashed = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    hashed["rego/kfm/config/data.json"] = hashlib.sha256(b'{"a":[true,null,"x"],"b":1}').hexdigest()
    require_signature(FILES, token({"files": listed(hashed), "scope": "write", "keyid": "mine"}), KEYS)


def listed(hashed: Mapping[str, str], algorithm: str = "SHA-256") -> list[dict[str, str]]:
    return [{"name": name, "hash": each, "algorithm": algorithm} for name, each in hashed.items()]


def token(payload: object, key: Key = KEY) -> bytes:
    """A document whose token has this payload."""
    algorithm = key.algorithms[0]
    text = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    made = jws.serialize_compact({"alg": algorithm}, text, key.key, algorithms=[algorithm])
    return json.dumps({"signatures": [made]}).encode()


@settings(max_examples=60)
@given(st.sampled_from(sorted(FILES)), st.data())
def test_no_byte_of_a_file_can_be_another(name: str, data: st.DataObject) -> None:
    content = bytearray(FILES[name])
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    if name.endswith("data.json") and same_value(bytes(content), FILES[name]):
        return
    with pytest.raises(BundleUnsigned):
        require_signature({**FILES, name: bytes(content)}, SIGNED, KEYS)


def same_value(one: bytes, other: bytes) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except ValueError:
        return False


@settings(max_examples=60)
@given(st.integers(0, len(SIGNED) - 1), st.integers(1, 255))
def test_no_byte_of_the_signature_can_be_another(at: int, bits: int) -> None:
    changed = bytearray(SIGNED)
    changed[at] ^= bits
    try:
        told = json.loads(bytes(changed))
    except ValueError:
        told = None
    if told != json.loads(SIGNED) and not same_signature(told):
        with pytest.raises(BundleUnsigned):
            require_signature(FILES, bytes(changed), KEYS)


def same_signature(told: object) -> bool:
    """True if the last character of the token differs in bits that base64 leaves unused."""
    if not isinstance(told, dict) or not isinstance(told.get("signatures"), list) or len(told["signatures"]) != 1:
        return False
    one, other = told["signatures"][0], json.loads(SIGNED)["signatures"][0]
    if not isinstance(one, str) or one.rpartition(".")[0] != other.rpartition(".")[0]:
        return False
    return bytes_of(one) == bytes_of(other)


def bytes_of(text: str) -> bytes | None:
    """The bytes of a token's signature; None where they are not encoded rightly."""
    try:
        return base64.urlsafe_b64decode(text.rpartition(".")[2].encode("ascii", "replace") + b"==")
    except ValueError:
        return None


@pytest.mark.parametrize("change", ["less", "more", "renamed"])
def test_every_file_counts(change: str) -> None:
    files = dict(FILES)
    content = files.pop("wasm/bundle.wasm") if change != "more" else b"\0asm"
    if change != "less":
        files["wasm/other.wasm"] = content
    with pytest.raises(BundleUnsigned, match=r"not signed|not there"):
        require_signature(files, SIGNED, KEYS)


def forged(header: Mapping[str, str]) -> bytes:
    """The signed token under another header, with an empty signature, as who hopes for `none` would send it."""
    _, payload, _ = json.loads(SIGNED)["signatures"][0].split(".")
    return json.dumps({"signatures": [f"{encoded(json.dumps(header).encode())}.{payload}."]}).encode()


def with_the_public_key_as_secret() -> bytes:
    signed = ".".join(map(encoded, (b'{"alg":"HS256"}', b'{"files":[]}')))
    mac = hmac.digest(PUBLIC.encode(), signed.encode(), "sha256")
    return json.dumps({"signatures": [f"{signed}.{encoded(mac)}"]}).encode()


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


@pytest.mark.parametrize(
    "document",
    [
        None,
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"signatures": []}',
        b'{"signatures": [7]}',
        b'{"signatures": "abc"}',
        b'{"signatures": ["a.b.c"]}',
        b"[" * 100_000,
        b" " * 2_000_000 + SIGNED,
        json.dumps({"signatures": json.loads(SIGNED)["signatures"] * 2}).encode(),
        forged({"alg": "none"}),
        forged({"alg": "ES256"}),
        forged({"alg": "HS256"}),
        signatures(FILES, signing_key(pair(MADE["P-256"]())[0])),
        signatures(FILES, signing_key(pair(MADE["RSA"]())[0])),
        token({}),
        token({"files": {}}),
        token({"files": [7]}),
        token({"files": [{"name": "x"}]}),
        token(b"not json"),
        token({"files": listed({n: hashlib.sha256(c).hexdigest() for n, c in FILES.items()}, "none")}),
        token({"files": listed({n: hashlib.md5(c).hexdigest() for n, c in FILES.items()}, "MD5")}),
    ],
)
def test_what_is_no_signature_by_a_pinned_key_is_refused(document: bytes | None) -> None:
    with pytest.raises(BundleUnsigned):
        require_signature(FILES, document, KEYS)


def test_a_public_key_is_no_shared_secret() -> None:
    with pytest.raises(BundleUnsigned):
        require_signature({}, with_the_public_key_as_secret(), KEYS)


@pytest.mark.parametrize(
    "pem",
    [
        "",
        "no key",
        PUBLIC.replace("M", "!"),
        PUBLIC[:60],
        pair(ec.generate_private_key(ec.SECP256K1()))[1],
        pair(ed25519.Ed25519PrivateKey.generate())[1],
        pair(rsa.generate_private_key(65537, 1024))[1],
    ],
)
def test_a_key_that_will_not_do_is_refused(pem: str) -> None:
    with pytest.raises(SigningKeyInvalid):
        verification_keys(pem)


@pytest.mark.parametrize("pem", [PUBLIC, PRIVATE + PRIVATE, ""])
def test_only_one_private_key_signs(pem: str) -> None:
    with pytest.raises(SigningKeyInvalid):
        signing_key(pem)
