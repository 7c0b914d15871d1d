"""API keys: shown once, hashed at rest, refused when unknown, expired or revoked."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from api.errors import CredentialRejected, HomeUnusable, NoSuchThing, RequestRejected
from api.home.identity.keys import KeyStore


class Clock:
    """A clock that the test moves."""

    now_ms = 1_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock) -> KeyStore:
    return KeyStore(tmp_path / "home" / "keys.sqlite", clock_ms=clock)


def test_a_key_stands_for_what_it_was_made_for(keys: KeyStore) -> None:
    key, token = keys.create(
        name="ci", tenant="t1", roles=("contributor",), groups=("g",), capabilities=("trace",), expires_ms=2_000_000
    )
    assert keys.authenticate(token) == key
    assert keys.all() == (key,)
    assert (key.name, key.tenant, key.roles, key.groups, key.capabilities) == (
        "ci",
        "t1",
        ("contributor",),
        ("g",),
        ("trace",),
    )


def test_two_keys_are_two(keys: KeyStore) -> None:
    (first, one), (second, two) = (keys.create(name="a", tenant="t", roles=("admin",)) for _ in range(2))
    assert first.key_id != second.key_id
    assert keys.authenticate(one) == first
    assert keys.authenticate(two) == second
    with pytest.raises(CredentialRejected):
        keys.authenticate(one[:17] + two[17:])


def test_the_token_is_kept_nowhere(keys: KeyStore, tmp_path: Path) -> None:
    _, token = keys.create(name="a", tenant="t", roles=("admin",))
    secret = token.split("_", 2)[2]
    content = b"".join(path.read_bytes() for path in (tmp_path / "home").iterdir())
    assert secret.encode() not in content
    assert token.encode() not in content


def test_only_the_owner_may_read_the_file(keys: KeyStore, tmp_path: Path) -> None:
    keys.create(name="a", tenant="t", roles=("admin",))
    assert stat.S_IMODE((tmp_path / "home" / "keys.sqlite").stat().st_mode) == 0o600


def test_an_expired_key_is_refused(keys: KeyStore, clock: Clock) -> None:
    key, token = keys.create(name="a", tenant="t", roles=("admin",), expires_ms=1_000_500)
    clock.now_ms = 1_000_499
    assert keys.authenticate(token) == key
    clock.now_ms = 1_000_500
    with pytest.raises(CredentialRejected):
        keys.authenticate(token)
    assert keys.usable() == ()


def test_a_revoked_key_is_refused_and_stays_listed(keys: KeyStore, clock: Clock) -> None:
    key, token = keys.create(name="a", tenant="t", roles=("admin",))
    clock.now_ms += 5
    assert keys.revoke(key.key_id).revoked_ms == clock.now_ms
    first = clock.now_ms
    clock.now_ms += 5
    assert keys.revoke(key.key_id).revoked_ms == first
    with pytest.raises(CredentialRejected):
        keys.authenticate(token)
    assert [k.key_id for k in keys.all()] == [key.key_id]


def test_revoking_what_is_not_there(keys: KeyStore) -> None:
    with pytest.raises(NoSuchThing):
        keys.revoke("0" * 12)
    keys.create(name="a", tenant="t", roles=("admin",))
    with pytest.raises(NoSuchThing):
        keys.revoke("0" * 12)


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "a b"},
        {"name": "x" * 65},
        {"tenant": ""},
        {"tenant": "../x"},
        {"roles": ()},
        {"roles": ("ad min",)},
        {"groups": ("",)},
        {"capabilities": ("a\n",)},
        {"expires_ms": 1_000_000},
        {"expires_ms": 0},
    ],
    ids=str,
)
def test_keys_that_cannot_be(keys: KeyStore, change: dict[str, object]) -> None:
    with pytest.raises(RequestRejected):
        keys.create(**({"name": "a", "tenant": "t", "roles": ("admin",)} | change))  # type: ignore[arg-type]
    assert keys.all() == ()


@given(st.text(max_size=90))
@hypothesis_settings(max_examples=50)
def test_no_other_text_is_a_key(token: str) -> None:
    with pytest.raises(CredentialRejected):
        KeyStore(Path("/nonexistent/keys.sqlite"), clock_ms=Clock()).authenticate(token)


@pytest.mark.parametrize("place", [4, 10, 20, 40, -1])
def test_one_changed_character_is_no_key(keys: KeyStore, place: int) -> None:
    _, token = keys.create(name="a", tenant="t", roles=("admin",))
    place %= len(token)
    # The last character of a 256-bit secret carries spare bits, yet the text as a whole is what is hashed.
    other = "a" if token[place] != "a" else "b"
    with pytest.raises(CredentialRejected):
        keys.authenticate(token[:place] + other + token[place + 1 :])


def test_a_damaged_file_is_an_error_not_an_open_door(keys: KeyStore, tmp_path: Path) -> None:
    _, token = keys.create(name="a", tenant="t", roles=("admin",))
    (tmp_path / "home" / "keys.sqlite").write_bytes(b"not a database at all, but long enough to be taken for one" * 100)
    with pytest.raises(HomeUnusable):
        keys.authenticate(token)
    with pytest.raises(HomeUnusable):
        keys.all()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeUnusable):
        KeyStore(tmp_path / "file" / "keys.sqlite", clock_ms=Clock()).create(name="a", tenant="t", roles=("admin",))


def test_a_rotated_key_is_accepted_beside_its_successor_until_the_overlap_ends(keys: KeyStore, clock: Clock) -> None:
    identity = {"name": "a", "tenant": "t", "roles": ("admin",), "groups": ("g",), "capabilities": ("trace",)}
    old, old_token = keys.create(**identity, expires_ms=None)  # type: ignore[arg-type]
    new, new_token = keys.rotate(old.key_id, expires_ms=9_000_000, overlap_ms=500)
    assert {name: getattr(new, name) for name in identity} == identity
    assert (new.expires_ms, new.key_id == old.key_id, new_token == old_token) == (9_000_000, False, False)
    assert keys.authenticate(old_token).key_id == old.key_id
    clock.now_ms += 500
    with pytest.raises(CredentialRejected):
        keys.authenticate(old_token)
    assert keys.authenticate(new_token) == new


def test_rotation_never_lengthens_a_life(keys: KeyStore) -> None:
    old, _ = keys.create(name="a", tenant="t", roles=("admin",), expires_ms=1_000_100)
    keys.rotate(old.key_id, expires_ms=None, overlap_ms=10_000)
    assert [key.expires_ms for key in keys.all() if key.key_id == old.key_id] == [1_000_100]


def test_only_a_usable_key_is_rotated(keys: KeyStore, clock: Clock) -> None:
    revoked, _ = keys.create(name="a", tenant="t", roles=("admin",))
    keys.revoke(revoked.key_id)
    expired, _ = keys.create(name="b", tenant="t", roles=("admin",), expires_ms=1_000_100)
    clock.now_ms = 1_000_100
    for key_id in (revoked.key_id, expired.key_id, "0" * 12):
        with pytest.raises(NoSuchThing):
            keys.rotate(key_id, expires_ms=None, overlap_ms=0)
    assert len(keys.all()) == 2
