"""`exhibit key`: API keys for callers over HTTP."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from api.cli.console import configuration, emit, kept_home, note, table
from api.cli.options import AsJson, Home, Tenant
from api.home.configuration import Configuration
from api.home.folder import KEYS_FILE
from api.home.identity.keys import ApiKey, KeyStore

app = typer.Typer(
    help="API keys for callers over HTTP.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
_LIFE = "90d"
_NEVER = "never"
_AGE = re.compile(r"(\d{1,5})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


def now_ms() -> int:
    """UTC milliseconds."""
    return time.time_ns() // 1_000_000


@app.command()
def create(
    *,
    name: Annotated[str, typer.Option("--name", help="What the key is for.")],
    role: Annotated[list[str], typer.Option("--role", help="Role; may be given several times.")],
    group: Annotated[list[str] | None, typer.Option("--group", help="Group; may be given several times.")] = None,
    capability: Annotated[
        list[str] | None, typer.Option("--capability", help="Capability; may be given several times.")
    ] = None,
    tenant: Tenant = "default",
    expires: Annotated[str, typer.Option("--expires", help="12h, 30d, 8w, a date, or never.")] = _LIFE,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. Its token is printed once and kept nowhere."""
    from policy.bundles.bundle import load_bundle

    data = load_bundle().data
    _check_known("role", role, set(data.roles) | set(data.aliases))
    _check_known("capability", capability or [], set(data.capabilities))
    from api.audit.life.keys import create_key

    configured = configuration(home)
    key, token = _store(configured).draw(
        name=name,
        tenant=tenant,
        roles=tuple(role),
        groups=tuple(group or ()),
        capabilities=tuple(capability or ()),
        expires_ms=_expiry(expires),
    )
    entry_id = asyncio.run(create_key(configured, (key, token)))
    note(f"recorded as {entry_id}")
    note("The token is shown once; the folder keeps only its hash.")
    emit(_shown(key) | {"token": token}, as_json=as_json, render=lambda: token)


@app.command()
def rotate(
    key_id: Annotated[str, typer.Argument(help="Id of the key.")],
    expires: Annotated[str, typer.Option("--expires", help="End of the new key: 30d, a date, or never.")] = _LIFE,
    overlap: Annotated[str, typer.Option("--overlap", help="For how long the old key is accepted: 12h, 7d.")] = "7d",
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Make a key of the same identity, and let the old one expire. The new token is printed once and kept nowhere."""
    from api.audit.life.keys import rotate_key

    configured, overlap_ms = kept_home(home), _milliseconds(overlap)
    key, token = _store(configured).draw_successor(key_id, expires_ms=_expiry(expires))
    entry_id = asyncio.run(rotate_key(configured, key_id, (key, token), overlap_ms=overlap_ms))
    note(f"recorded as {entry_id}")
    note("The token is shown once; the folder keeps only its hash.")
    emit(_shown(key) | {"token": token}, as_json=as_json, render=lambda: token)


@app.command("list")
def list_keys(home: Home = None, as_json: AsJson = False) -> None:
    """Every key, without tokens."""
    store = _store(kept_home(home))
    keys, uses = store.all(), store.last_uses()
    headings = ["id", "name", "tenant", "roles", "groups", "capabilities", "expires", "last use", "state"]
    rows = [
        [
            *(k.key_id, k.name, k.tenant, ",".join(k.roles), ",".join(k.groups), ",".join(k.capabilities)),
            *(_day(k.expires_ms), _day(uses.get(k.key_id)), _state(k)),
        ]
        for k in keys
    ]
    shown = [_shown(key) | {"last_used_ms": uses.get(key.key_id)} for key in keys]
    emit(shown, as_json=as_json, render=lambda: table(headings, rows))


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="Id of the key.")], home: Home = None, as_json: AsJson = False
) -> None:
    """Refuse a key from now on."""
    from api.audit.life.keys import revoke_key

    key, entry_id = asyncio.run(revoke_key(kept_home(home), key_id))
    note(f"recorded as {entry_id}")
    emit(_shown(key), as_json=as_json, render=lambda: f"{key.key_id} {_state(key)}")


@app.command()
def history(
    key_id: Annotated[str | None, typer.Argument(help="Id of a key; default: of all.")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """The history of keys in the ledger: made, rotated, revoked, with roles and expiry."""
    from api.audit.entries.export import time_text
    from api.audit.life.keys import key_history

    found = asyncio.run(key_history(kept_home(home), key_id))
    rows = [
        [time_text(c["t_ms"]), c["action"], c["key_id"], c["replaces"] or "", ",".join(c["roles"]), c["entry_id"]]
        for c in found
    ]
    headings = ["time", "change", "key", "replaces", "roles", "entry"]
    emit(found, as_json=as_json, render=lambda: table(headings, rows))


def _store(configured: Configuration) -> KeyStore:
    return KeyStore(configured.home / KEYS_FILE, clock_ms=now_ms)


def _check_known(what: str, words: list[str], known: set[str]) -> None:
    for word in words:
        if word not in known:
            raise typer.BadParameter(f"unknown {what} {word!r}; known: {', '.join(sorted(known))}")


def _expiry(text: str) -> int | None:
    if text == _NEVER:
        return None
    if _AGE.fullmatch(text):
        return now_ms() + _milliseconds(text)
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise typer.BadParameter("an expiry is 12h, 30d, 8w, a date such as 2030-01-31, or never") from None


def _milliseconds(text: str) -> int:
    match = _AGE.fullmatch(text)
    if match is None:
        raise typer.BadParameter("a time is 12h, 7d or 8w")
    return int(match[1]) * _HOURS[match[2]] * 3_600_000


def _day(expires_ms: int | None) -> str:
    return _NEVER if expires_ms is None else datetime.fromtimestamp(expires_ms / 1000, UTC).date().isoformat()


def _state(key: ApiKey) -> str:
    if key.revoked_ms is not None:
        return "revoked"
    return "usable" if key.usable(now_ms()) else "expired"


def _shown(key: ApiKey) -> dict[str, Any]:
    return asdict(key) | {"state": _state(key)}
