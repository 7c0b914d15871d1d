"""Tenants as the operator has set them: active or suspended, and how many requests they may make. A tenant that nobody
has set is active and has no limit of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from limits import parse

from api.errors import NoSuchThing, RequestRejected
from api.home.kept_file import KeptSchema, kept_connection
from policy.model import Subject

State = Literal["active", "suspended"]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:-]{0,63}")
NAMING = "a tenant's name is 1-64 letters, digits and . _ @ : -, a letter or digit first"
_TABLE = """
CREATE TABLE tenant (
    name TEXT PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ('active', 'suspended')), quota TEXT,
    created_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL
) STRICT
"""
SCHEMA = KeptSchema("tenants", version=1, steps={0: ()}, create=(_TABLE,))
_COLUMNS = "name, state, quota, created_ms, changed_ms"


@dataclass(frozen=True, slots=True)
class Tenant:
    """One tenant. `quota` is a limit of requests of all its callers together, such as `600/minute`; None: the setting
    `server.rates.tenant`. Times are UTC milliseconds."""

    name: str
    state: State
    quota: str | None
    created_ms: int
    changed_ms: int


class TenantStore:
    """The tenants of one home, in one SQLite file. The methods block for well under a millisecond; callers on an event
    loop run them in a worker thread. A change by another process counts from the next request on. Raises
    HomeUnusable when the file cannot be used."""

    def __init__(self, path: Path, *, clock_ms: Callable[[], int]) -> None:
        self._path = path
        self._clock_ms = clock_ms

    def all(self) -> tuple[Tenant, ...]:
        """Every tenant that was set, by name."""
        if not self._path.exists():
            return ()
        with kept_connection(self._path, SCHEMA, create=False) as db:
            return tuple(Tenant(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM tenant ORDER BY name"))  # noqa: S608

    def find(self, name: str) -> Tenant | None:
        """The tenant of that name; None where nobody has set it."""
        if not self._path.exists():
            return None
        with kept_connection(self._path, SCHEMA, create=False) as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM tenant WHERE name = ?", (name,)).fetchone()  # noqa: S608
        return None if row is None else Tenant(*row)

    def draw(self, name: str, *, quota: str | None = None) -> Tenant:
        """A new tenant, which is not kept yet. Raises RequestRejected for a name or a quota that is none, or a name
        that is taken."""
        if not NAME.fullmatch(name):
            raise RequestRejected(NAMING)
        if self.find(name) is not None:
            raise RequestRejected(f"there is a tenant {name} already")
        now_ms = self._clock_ms()
        return Tenant(name, "active", checked_quota(quota), now_ms, now_ms)

    def changed(self, name: str, *, state: State | None = None, quota: str | None = "") -> Tenant:
        """The tenant as it would be; not kept yet. An empty `quota` leaves it. Raises NoSuchThing, RequestRejected."""
        held = self.find(name)
        if held is None:
            raise NoSuchThing(f"there is no tenant {name}; create it: exhibit tenant create {name}")
        kept = held.quota if quota == "" else checked_quota(quota)
        return replace(held, state=state or held.state, quota=kept, changed_ms=self._clock_ms())

    def keep(self, tenant: Tenant) -> None:
        """Keep a tenant as it is, in the place of what it was."""
        row = (tenant.name, tenant.state, tenant.quota, tenant.created_ms, tenant.changed_ms)
        with kept_connection(self._path, SCHEMA) as db:
            db.execute("INSERT OR REPLACE INTO tenant VALUES (?, ?, ?, ?, ?)", row)

    def forget(self, name: str) -> None:
        """Delete a tenant; nothing of it but this row is touched."""
        if self._path.exists():
            with kept_connection(self._path, SCHEMA, create=False) as db:
                db.execute("DELETE FROM tenant WHERE name = ?", (name,))

    def standing(self, subject: Subject) -> Subject:
        """The subject as its tenant stands: of a suspended one, refused at every point."""
        held = self.find(subject.tenant)
        return subject.suspended() if held is not None and held.state == "suspended" else subject


def checked_quota(text: str | None) -> str | None:
    """A limit such as `600/minute`. Raises RequestRejected for what is none."""
    if text is None:
        return None
    try:
        parse(text)
    except ValueError as exc:
        raise RequestRejected("a quota is COUNT/second, /minute, /hour or /day") from exc
    return text
