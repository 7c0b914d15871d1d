"""Signatures that the real `opa` makes and checks are those that we check and make."""

from __future__ import annotations

import base64
import json
import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from policy.authoring.opa import Opa, OpaFailed
from policy.authoring.server_bundle import server_bundle, signed_server_bundle
from policy.bundles.bundle import SHIPPED
from policy.bundles.signatures import require_signature, signing_key, verification_keys
from policy.errors import BundleUnsigned
from tests.opa_server import pinned_opa
from tests.unit.test_policy_signatures import pair

pytestmark = pytest.mark.services
PAIRS = {"ES256": pair(ec.generate_private_key(ec.SECP256R1())), "RS256": pair(rsa.generate_private_key(65537, 2048))}
OTHER = pair(ec.generate_private_key(ec.SECP256R1()))


@pytest.fixture(scope="module")
def opa(request: pytest.FixtureRequest) -> Opa:
    return pinned_opa(request.config)


def decided(opa: Opa, folder: Path, public: str, algorithm: str, archive: bytes) -> bool:
    """True if `opa` takes the archive, whose signature it checks, and the empty input is denied by it."""
    (folder / "key.pem").write_text(public)
    (folder / "bundle.tar.gz").write_bytes(archive)
    key = ("--verification-key", "key.pem", "--signing-alg", algorithm)
    try:
        opa.run("build", "-b", "bundle.tar.gz", *key, "-o", "checked.tar.gz", cwd=folder)
    except OpaFailed as exc:
        assert "signature" in str(exc) or "verif" in str(exc) or "digest" in str(exc), exc
        return False
    found = opa.run("eval", "-b", "checked.tar.gz", "--format", "raw", "data.kfm.ai.query.effect", cwd=folder)
    return found.strip() == b"deny"


@pytest.mark.parametrize("algorithm", PAIRS)
def test_opa_takes_what_we_signed_and_nothing_else(opa: Opa, tmp_path: Path, algorithm: str) -> None:
    private, public = PAIRS[algorithm]
    signed = signed_server_bundle(SHIPPED, signing_key(private))
    assert decided(opa, tmp_path, public, algorithm, signed)
    assert not decided(opa, tmp_path, public, algorithm, server_bundle(SHIPPED))
    if algorithm == "ES256":
        assert not decided(opa, tmp_path, OTHER[1], algorithm, signed)


@pytest.mark.parametrize("algorithm", PAIRS)
def test_we_take_what_opa_signed_and_nothing_else(opa: Opa, tmp_path: Path, algorithm: str) -> None:
    private, public = PAIRS[algorithm]
    shutil.copytree(SHIPPED / "rego", tmp_path / "rego")
    (tmp_path / "key.pem").write_text(private)
    opa.run(
        "sign", "--signing-key", "../key.pem", "--signing-alg", algorithm, "-b", ".", "-o", "..", cwd=tmp_path / "rego"
    )
    document = (tmp_path / ".signatures.json").read_bytes()
    root = tmp_path / "rego"
    files = {each.relative_to(root).as_posix(): each.read_bytes() for each in root.rglob("*") if each.is_file()}
    named = {each["name"] for each in payload(document)["files"]}
    files = {name: content for name, content in files.items() if name in named}
    assert len(files) > 10
    keys = verification_keys(public)
    require_signature({**files, ".manifest": b"{}"} if ".manifest" in named else files, document, keys)
    with pytest.raises(BundleUnsigned):
        require_signature(files | {"kfm/ai/query.rego": b"package kfm.ai"}, document, keys)
    with pytest.raises(BundleUnsigned):
        require_signature(files, document, verification_keys(OTHER[1]))


def payload(document: bytes) -> dict[str, list[dict[str, str]]]:
    text = json.loads(document)["signatures"][0].split(".")[1]
    told: dict[str, list[dict[str, str]]] = json.loads(base64.urlsafe_b64decode(text + "=="))
    return told
