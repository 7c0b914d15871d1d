"""The key ring in a folder: made once, private, and never replaced in silence."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from ledger.errors import KeyUnusable, LedgerUnavailable
from ledger.keys import LOG_KEY, PSEUDONYM_KEY, open_key_ring, pseudonym
from ledger.ledger import Ledger
from ledger.model import Kind
from ledger.notes.note import SigningKey, VerifierKey
from ledger.proofs.receipt import verify_receipt
from ledger.witnesses.key import WITNESS_KEY, create_witness_key, open_witness_key
from tests.ledger_doubles import MemoryKeyRing, MemoryLedgerStore, fixed_ids, ticking_clock

ORIGIN = "exhibit.example/log"


async def test_keys_are_made_private_and_stay(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "keys"
    made = await open_key_ring(folder, origin=ORIGIN, create=True)
    tenant = await made.tenant_key("t1", create=True)
    again = await open_key_ring(folder, origin=ORIGIN, create=False)
    assert again.signer.verifier == made.signer.verifier
    assert again.pseudonym_key == made.pseudonym_key
    assert await again.tenant_key("t1", create=False) == tenant
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert {path.name for path in folder.iterdir()} == {LOG_KEY, PSEUDONYM_KEY, "tenant-t1.key"}


async def test_tenants_have_keys_of_their_own(tmp_path: Path) -> None:
    ring = await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    one, two, same = await asyncio.gather(*(ring.tenant_key(name, create=True) for name in ("a", "b", "a")))
    assert one == same != two


async def test_two_rings_that_make_a_key_at_once_agree(tmp_path: Path) -> None:
    first = await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    second = await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    keys = await asyncio.gather(*(ring.tenant_key("t", create=True) for ring in (first, second) * 3))
    assert len(set(keys)) == 1


async def test_missing_keys_are_named(tmp_path: Path) -> None:
    with pytest.raises(KeyUnusable):
        await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=False)
    ring = await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    with pytest.raises(KeyUnusable, match="tenant-x"):
        await ring.tenant_key("x", create=False)
    (tmp_path / "keys" / LOG_KEY).unlink()
    with pytest.raises(KeyUnusable, match=LOG_KEY):
        await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=False)


@pytest.mark.parametrize("name", [LOG_KEY, PSEUDONYM_KEY])
@pytest.mark.parametrize("text", ["", "nonsense", "é", "00" * 31, "PRIVATE+KEY+x+00000000+AAAA"])
async def test_damaged_keys_are_refused_not_replaced(tmp_path: Path, name: str, text: str) -> None:
    await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    path = tmp_path / "keys" / name
    path.write_text(text)
    with pytest.raises(KeyUnusable):
        await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    assert path.read_text() == text


async def test_a_key_of_another_origin_is_refused(tmp_path: Path) -> None:
    await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    with pytest.raises(KeyUnusable, match="other"):
        await open_key_ring(tmp_path / "keys", origin="other.example", create=True)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o601])
@pytest.mark.parametrize("name", [LOG_KEY, PSEUDONYM_KEY])
async def test_files_that_others_can_reach_are_refused(tmp_path: Path, name: str, mode: int) -> None:
    await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    (tmp_path / "keys" / name).chmod(mode)
    with pytest.raises(KeyUnusable, match="0600"):
        await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=False)


async def test_a_folder_that_others_can_reach_is_refused(tmp_path: Path) -> None:
    await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=True)
    (tmp_path / "keys").chmod(0o755)
    with pytest.raises(KeyUnusable, match="0700"):
        await open_key_ring(tmp_path / "keys", origin=ORIGIN, create=False)


async def test_a_folder_that_cannot_be_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnavailable):
        await open_key_ring(tmp_path / "file" / "keys", origin=ORIGIN, create=True)


def test_pseudonyms_are_stable_keyed_and_apart() -> None:
    name = pseudonym(b"k" * 32, "tenant", "default")
    assert name == pseudonym(b"k" * 32, "tenant", "default")
    assert len(name) == 32
    others = {
        pseudonym(b"x" * 32, "tenant", "default"),
        pseudonym(b"k" * 32, "principal", "default"),
        pseudonym(b"k" * 32, "tenant", "Default"),
        pseudonym(b"k" * 32, "tenant\0d", "efault"),
    }
    assert name not in others
    assert len(others) == 4


def test_the_signing_key_does_not_show_itself() -> None:
    key = SigningKey.from_seed(ORIGIN, b"s" * 32)
    assert key.encode().split("+")[-1] not in repr(key)


async def test_the_next_signing_key_is_made_once_and_checked_like_the_first(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    ring = await open_key_ring(folder, origin=ORIGIN, create=True)
    second = await ring.successor(ring.signer.verifier)
    assert await ring.successor(ring.signer.verifier) is second
    assert second.verifier != ring.signer.verifier
    assert second.verifier.name == ORIGIN
    assert stat.S_IMODE((folder / "log-2.key").stat().st_mode) == 0o600
    third = await ring.successor(second.verifier)
    again = await open_key_ring(folder, origin=ORIGIN, create=False)
    for signer in (ring.signer, second, third):
        found = await again.signer_of(signer.verifier)
        assert found is not None
        assert found.verifier == signer.verifier
    stranger = SigningKey.from_seed(ORIGIN, b"x" * 32)
    assert await again.signer_of(stranger.verifier) is None
    with pytest.raises(KeyUnusable):
        await again.successor(stranger.verifier)
    (folder / "log-2.key").chmod(0o640)
    with pytest.raises(KeyUnusable):
        await open_key_ring(folder, origin=ORIGIN, create=False)


class Remote:
    """A Signer whose key lies elsewhere: a key service that can be out of reach."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key
        self.down = False

    @property
    def verifier(self) -> VerifierKey:
        return self._key.verifier

    async def sign(self, message: bytes) -> bytes:
        await asyncio.sleep(0)
        if self.down:
            raise KeyUnusable("the key service does not answer")
        return self._key.private.sign(message)


async def test_a_key_service_signs_behind_the_same_protocol() -> None:
    keys = MemoryKeyRing()
    remote = Remote(keys.signer)
    keys.signer = remote  # type: ignore[assignment]
    ledger = await Ledger.open(
        store=MemoryLedgerStore(),
        keys=keys,
        origin=remote.verifier.name,
        replica="r",
        clock_ms=ticking_clock(),
        new_id=fixed_ids(),
    )
    entry = await ledger.record(Kind.INTENT, tenant="t", request_id="r1", parts={})
    remote.down = True
    with pytest.raises(KeyUnusable):
        await ledger.receipt(entry.entry_id, disclose=())
    remote.down = False
    assert verify_receipt(await ledger.receipt(entry.entry_id, disclose=()), vkey=ledger.vkey).index == 0
    await ledger.rotate_key()
    assert len(ledger.vkeys) == 2


@pytest.mark.parametrize("content", ["", "nonsense", "PRIVATE+KEY+w+00000000+AAAA", "log"])
async def test_a_witness_key_is_checked_too(tmp_path: Path, content: str) -> None:
    made = await create_witness_key(tmp_path / "w", "w.example/1")
    assert (await create_witness_key(tmp_path / "w", "w.example/1")).verifier == made.verifier
    with pytest.raises(KeyUnusable):
        await create_witness_key(tmp_path / "w", "w.example/2")
    file = tmp_path / "w" / WITNESS_KEY
    log = SigningKey.from_seed("w.example/1", b"l" * 32).encode()
    file.write_text(log if content == "log" else content)
    with pytest.raises(KeyUnusable):
        await open_witness_key(tmp_path / "w")
    file.write_text(made.encode())
    file.chmod(0o644)
    with pytest.raises(KeyUnusable):
        await open_witness_key(tmp_path / "w")
