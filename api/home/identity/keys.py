"""API keys: who a caller over HTTP is. A key is shown once, when it is made; the folder keeps only its SHA-256.

A plain hash is right here, and a slow one would only cost: the secret is 256 random bits, so there is no dictionary
to try, and every request has to check it. (A password would need scrypt.) The part before the secret names the row,
so that a key is found by its id and the secret is compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.errors import CredentialRejected, NoSuchThing, RequestRejected
from api.home.identity.key_uses import KeyUses
from api.home.kept_file import KeptSchema, kept_connection

USES_FILE = "key-uses.sqlite"
_ID_BYTES = 6
_SECRET_BYTES = 32
_TOKEN = re.compile(r"exk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:-]{0,63}")
_TABLE = """
CREATE TABLE api_key (
    id TEXT PRIMARY KEY, digest BLOB NOT NULL CHECK (length(digest) = 32), name TEXT NOT NULL, tenant TEXT NOT NULL,
    roles TEXT NOT NULL, groups TEXT NOT NULL, capabilities TEXT NOT NULL, created_ms INTEGER NOT NULL,
    expires_ms INTEGER, revoked_ms INTEGER
) STRICT
"""
SCHEMA = KeptSchema("API keys", version=1, steps={0: ()}, create=(_TABLE,))
_ALL = """
SELECT id, name, tenant, roles, groups, capabilities, created_ms, expires_ms, revoked_ms
FROM api_key ORDER BY created_ms, id
"""
_BY_ID = """
SELECT digest, id, name, tenant, roles, groups, capabilities, created_ms, expires_ms, revoked_ms
FROM api_key WHERE id = ?
"""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The identity behind a key. Times are UTC milliseconds; `expires_ms` None = never."""

    key_id: str
    name: str
    tenant: str
    roles: tuple[str, ...]
    groups: tuple[str, ...]
    capabilities: tuple[str, ...]
    created_ms: int
    expires_ms: int | None
    revoked_ms: int | None

    def usable(self, now_ms: int) -> bool:
        """True if the key is neither revoked nor expired."""
        return self.revoked_ms is None and (self.expires_ms is None or now_ms < self.expires_ms)


class KeyStore:
    """The keys of one home folder, in one SQLite file that only its owner may read.

    The methods block for well under a millisecond; callers on an event loop run them in a worker thread. A key that
    is revoked by another process is refused from the next request on. Raises HomeUnusable when the file cannot be
    used.
    """

    def __init__(self, path: Path, *, clock_ms: Callable[[], int]) -> None:
        self._path = path
        self._clock_ms = clock_ms
        self._uses = KeyUses(path.with_name(USES_FILE))

    def create(self, **wanted: Any) -> tuple[ApiKey, str]:
        """A key that is drawn and kept; takes what `draw` takes and raises what it raises. Commands keep what they have
        recorded before (`api.audit.life.keys`)."""
        key, token = self.draw(**wanted)
        self.add(key, token)
        return key, token

    def draw(
        self,
        *,
        name: str,
        tenant: str,
        roles: tuple[str, ...],
        groups: tuple[str, ...] = (),
        capabilities: tuple[str, ...] = (),
        expires_ms: int | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its token, which nothing accepts before the key is kept. Raises RequestRejected for a name that
        is not plain or an expiry that is past."""
        now_ms = self._clock_ms()
        if not roles:
            raise RequestRejected("a key needs at least one role")
        for word in (name, tenant, *roles, *groups, *capabilities):
            if not _NAME.fullmatch(word):
                raise RequestRejected(
                    "names, tenants, roles, groups and capabilities are 1-64 letters, digits and . _ @ : -"
                )
        if expires_ms is not None and expires_ms <= now_ms:
            raise RequestRejected("the key would already have expired")
        key = ApiKey(secrets.token_hex(_ID_BYTES), name, tenant, roles, groups, capabilities, now_ms, expires_ms, None)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        return key, f"exk_{key.key_id}_{secret}"

    def add(self, key: ApiKey, token: str) -> None:
        """Keep a key that was drawn, with the digest of its token's secret."""
        words = (json.dumps(each) for each in (key.roles, key.groups, key.capabilities))
        row = (
            *(key.key_id, _digest(token.split("_", 2)[2]), key.name, key.tenant),
            *(*words, key.created_ms, key.expires_ms),
        )
        with kept_connection(self._path, SCHEMA) as db:
            db.execute("INSERT INTO api_key VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", row)

    def all(self) -> tuple[ApiKey, ...]:
        """Every key, oldest first."""
        if not self._path.exists():
            return ()
        with kept_connection(self._path, SCHEMA, create=False) as db:
            return tuple(_key(row) for row in db.execute(_ALL))

    def usable(self) -> tuple[ApiKey, ...]:
        """The keys that would be accepted now."""
        now_ms = self._clock_ms()
        return tuple(key for key in self.all() if key.usable(now_ms))

    def revoke(self, key_id: str) -> ApiKey:
        """The key, refused from now on; revoking twice changes nothing. Raises NoSuchThing."""
        if self._path.exists():
            with kept_connection(self._path, SCHEMA, create=False) as db:
                db.execute(
                    "UPDATE api_key SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL", (self._clock_ms(), key_id)
                )
        for key in self.all():
            if key.key_id == key_id:
                return key
        raise NoSuchThing("there is no key with that id")

    def rotate(self, key_id: str, *, expires_ms: int | None, overlap_ms: int) -> tuple[ApiKey, str]:
        """A new key of the identity of a usable one, and its token; the old one expires after the overlap. Raises
        NoSuchThing, RequestRejected."""
        key, token = self.draw_successor(key_id, expires_ms=expires_ms)
        self.add(key, token)
        self.expire(key_id, overlap_ms=overlap_ms)
        return key, token

    def draw_successor(self, key_id: str, *, expires_ms: int | None) -> tuple[ApiKey, str]:
        """As `draw`, of the identity of a usable key. Raises NoSuchThing, RequestRejected."""
        old = next((key for key in self.usable() if key.key_id == key_id), None)
        if old is None:
            raise NoSuchThing("there is no usable key with that id")
        return self.draw(
            name=old.name,
            tenant=old.tenant,
            roles=old.roles,
            groups=old.groups,
            capabilities=old.capabilities,
            expires_ms=expires_ms,
        )

    def expire(self, key_id: str, *, overlap_ms: int) -> None:
        """Let a key expire so many milliseconds from now, or when it does so anyway."""
        ends_ms = self._clock_ms() + overlap_ms
        with kept_connection(self._path, SCHEMA, create=False) as db:
            db.execute(
                "UPDATE api_key SET expires_ms = min(ifnull(expires_ms, :ends), :ends) WHERE id = :id",
                {"ends": ends_ms, "id": key_id},
            )

    def authenticate(self, token: str) -> ApiKey:
        """The key that a token proves. Raises CredentialRejected, which does not say why."""
        match = _TOKEN.fullmatch(token)
        row = self._row(match[1]) if match else None
        # An unknown id costs the same comparison as a known one.
        expected = row[0] if row else bytes(32)
        matches = hmac.compare_digest(expected, _digest(match[2] if match else ""))
        now_ms = self._clock_ms()
        if not row or not matches or not row[1].usable(now_ms):
            raise CredentialRejected
        self._uses.note(row[1].key_id, now_ms)
        return row[1]

    def last_uses(self) -> Mapping[str, int]:
        """When each key was last accepted by a server of this home, by its id, to the minute; without those that never
        were."""
        return self._uses.all()

    def _row(self, key_id: str) -> tuple[bytes, ApiKey] | None:
        if not self._path.exists():
            return None
        with kept_connection(self._path, SCHEMA, create=False) as db:
            row = db.execute(_BY_ID, (key_id,)).fetchone()
        return None if row is None else (row[0], _key(row[1:]))


def is_key(token: str) -> bool:
    """True if a credential claims to be an API key; a JSON Web Token never does."""
    return token.startswith("exk_")


def _key(row: Sequence[Any]) -> ApiKey:
    key_id, name, tenant, roles, groups, capabilities, created_ms, expires_ms, revoked_ms = row
    return ApiKey(
        key_id=key_id,
        name=name,
        tenant=tenant,
        roles=tuple(json.loads(roles)),
        groups=tuple(json.loads(groups)),
        capabilities=tuple(json.loads(capabilities)),
        created_ms=created_ms,
        expires_ms=expires_ms,
        revoked_ms=revoked_ms,
    )


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
