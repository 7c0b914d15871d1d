"""A home that pins the keys of publishers: no bundle decides there that none of them signed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from api.home.backends import backends_of
from api.home.configuration import Configuration, load
from api.wiring import open_system, releases_of
from api.wiring.ledger.log import log_to_write
from policy.bundles.archive import SIGNATURES
from policy.bundles.bundle import load_bundle
from policy.errors import BundleUnsigned
from tests.command_line import Run, command_line
from tests.edited_bundles import edited
from tests.published import publish_to
from tests.unit.test_policy_signatures import pair

PINNED = pair(ec.generate_private_key(ec.SECP256R1()))
OTHER = pair(ec.generate_private_key(ec.SECP256R1()))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    command = command_line(capsys, monkeypatch)
    (tmp_path / "pinned.pem").write_text(PINNED[1])
    (tmp_path / "key.pem").write_text(PINNED[0])
    (tmp_path / "other.pem").write_text(OTHER[0])
    return command


def settings(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"EXHIBIT_POLICY__VERIFICATION_KEYS": str(tmp_path / "pinned.pem"), **more}


def pinned(tmp_path: Path, **more: str) -> Configuration:
    (tmp_path / "home").mkdir(exist_ok=True)
    return load(settings(tmp_path, **more), home=tmp_path / "home")


def candidate(folder: Path) -> Path:
    """A copy of the shipped bundle that permits less."""
    return edited(folder, lambda data: data["limits"].update(injection_milli=400))


async def opens(configuration: Configuration) -> str:
    """The digest of the bundle that decides."""
    async with open_system(configuration, empty=True) as system:
        return system.policy.bundle.digest


async def test_the_shipped_bundle_needs_no_signature(cli: Run, tmp_path: Path) -> None:
    assert await opens(pinned(tmp_path)) == load_bundle().digest


@pytest.mark.parametrize("signer", ["nobody", "other", "pinned, then edited", "pinned, then removed"])
async def test_a_folder_that_no_pinned_key_signed_as_it_is_does_not_decide(
    cli: Run, tmp_path: Path, signer: str
) -> None:
    folder = candidate(tmp_path / "bundle")
    if signer != "nobody":
        key = "other.pem" if signer == "other" else "key.pem"
        assert cli("policy", "sign", folder, "--key", tmp_path / key)[0] == 0
    if signer == "pinned, then edited":
        vectors = folder / "vectors" / "query.json"
        vectors.write_text(vectors.read_text() + "\n")
    if signer == "pinned, then removed":
        (folder / SIGNATURES).unlink()
    with pytest.raises(BundleUnsigned):
        await opens(pinned(tmp_path, EXHIBIT_POLICY__BUNDLE=str(folder)))


async def test_a_folder_that_a_pinned_key_signed_decides(cli: Run, tmp_path: Path) -> None:
    folder = candidate(tmp_path / "bundle")
    assert cli("policy", "sign", folder, "--key", tmp_path / "key.pem")[0] == 0
    assert await opens(pinned(tmp_path, EXHIBIT_POLICY__BUNDLE=str(folder))) == load_bundle(folder).digest


def test_only_what_is_signed_is_published_and_decides_afterwards(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = candidate(tmp_path / "bundle")
    home = ("--home", tmp_path / "home")
    for name, value in settings(tmp_path).items():
        monkeypatch.setenv(name, value)
    publishing = ("policy", "publish", folder, "--inputs", 3, *home, "--json")
    code, _, err = cli(*publishing)
    assert code == 8
    assert "not signed" in err
    assert cli("policy", "sign", folder, "--key", tmp_path / "other.pem")[0] == 0
    code, _, err = cli(*publishing)
    assert code == 8
    assert "none of the pinned keys" in err
    assert cli("policy", "sign", folder, "--key", tmp_path / "key.pem")[0] == 0
    configuration = pinned(tmp_path)
    asyncio.run(published(configuration, folder))
    assert asyncio.run(opens(configuration)) == load_bundle(folder).digest
    archived = releases_of(backends_of(configuration).policy).archive.path(load_bundle(folder).digest)
    (archived / SIGNATURES).unlink()
    with pytest.raises(BundleUnsigned):
        asyncio.run(opens(configuration))


async def published(configuration: Configuration, folder: Path) -> None:
    async with log_to_write(configuration) as ledger:
        await publish_to(configuration, folder, ledger)


@pytest.mark.parametrize("keys", ["missing.pem", "bundle", "key.txt"])
def test_pinned_keys_that_cannot_be_read_stop_the_home(
    cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: str
) -> None:
    folder = candidate(tmp_path / "bundle")
    (tmp_path / "key.txt").write_text("no key")
    monkeypatch.setenv("EXHIBIT_POLICY__VERIFICATION_KEYS", str(tmp_path / keys))
    monkeypatch.setenv("EXHIBIT_POLICY__BUNDLE", str(folder))
    code, _, err = cli("policy", "status", "--home", tmp_path / "home")
    assert code == 2
    assert "policy.verification_keys" in err


@pytest.mark.parametrize("key", ["missing.pem", "pinned.pem", "bundle"])
def test_nothing_is_signed_with_what_is_no_private_key(cli: Run, tmp_path: Path, key: str) -> None:
    folder = candidate(tmp_path / "bundle")
    code, _, err = cli("policy", "sign", folder, "--key", tmp_path / key)
    assert (code, (folder / SIGNATURES).exists()) == (2, False), err
