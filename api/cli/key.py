"""`exhibit key`: API keys for callers over HTTP."""

from __future__ import annotations

import re
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.console import configuration, emit, note, table
from api.cli.options import AsJson, Home, Tenant
from api.home import KEYS_FILE
from api.keys import ApiKey, KeyStore

app = typer.Typer(
    help="API keys for callers over HTTP.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
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
    expires: Annotated[str | None, typer.Option("--expires", help="12h, 30d, 8w or a date; default: never.")] = None,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. Its token is printed once and kept nowhere."""
    from policy.bundle import load_bundle

    data = load_bundle().data
    _check_known("role", role, set(data.roles) | set(data.aliases))
    _check_known("capability", capability or [], set(data.capabilities))
    key, token = _store(home).create(
        name=name,
        tenant=tenant,
        roles=tuple(role),
        groups=tuple(group or ()),
        capabilities=tuple(capability or ()),
        expires_ms=_expiry(expires),
    )
    note("The token is shown once; the folder keeps only its hash.")
    emit(_shown(key) | {"token": token}, as_json=as_json, render=lambda: token)


@app.command("list")
def list_keys(home: Home = None, as_json: AsJson = False) -> None:
    """Every key, without tokens."""
    keys = _store(home).all()
    headings = ["id", "name", "tenant", "roles", "groups", "capabilities", "state"]
    rows = [
        [k.key_id, k.name, k.tenant, ",".join(k.roles), ",".join(k.groups), ",".join(k.capabilities), _state(k)]
        for k in keys
    ]
    emit([_shown(key) for key in keys], as_json=as_json, render=lambda: table(headings, rows))


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="Id of the key.")], home: Home = None, as_json: AsJson = False
) -> None:
    """Refuse a key from now on."""
    key = _store(home).revoke(key_id)
    emit(_shown(key), as_json=as_json, render=lambda: f"{key.key_id} {_state(key)}")


def _store(home: Path | None) -> KeyStore:
    return KeyStore(configuration(home).home / KEYS_FILE, clock_ms=now_ms)


def _check_known(what: str, words: list[str], known: set[str]) -> None:
    for word in words:
        if word not in known:
            raise typer.BadParameter(f"unknown {what} {word!r}; known: {', '.join(sorted(known))}")


def _expiry(text: str | None) -> int | None:
    if text is None:
        return None
    if match := _AGE.fullmatch(text):
        return now_ms() + int(match[1]) * _HOURS[match[2]] * 3_600_000
    try:
        return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        raise typer.BadParameter("an expiry is 12h, 30d, 8w or a date such as 2030-01-31") from None


def _state(key: ApiKey) -> str:
    if key.revoked_ms is not None:
        return "revoked"
    return "usable" if key.usable(now_ms()) else "expired"


def _shown(key: ApiKey) -> dict[str, Any]:
    return asdict(key) | {"state": _state(key)}
