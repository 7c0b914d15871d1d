"""`exhibit policy status`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.console import bold, configuration, emit
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from api.home.backends import PolicyBackend
    from api.home.stores import Opa
    from policy.bundles.bundle import Bundle

LATEST = 10


def status(home: Home = None, as_json: AsJson = False) -> None:
    """The bundle in force: digest, where it comes from, engine, rules, what was in force before, what runs beside."""
    from api.home.backends import backends_of
    from api.wiring import open_bundle, releases_of

    backend = backends_of(configuration(home)).policy
    bundle, state = open_bundle(backend), releases_of(backend).state()
    document: dict[str, Any] = {
        "bundle_digest": bundle.digest,
        "origin": _origin(backend, state.active),
        "engine": f"opa server at {backend.server.url}" if backend.server else "wasm",
        "fallback": backend.server is not None and backend.server.fallback,
        "module_sha256": bundle.wasm_sha256,
        "shadow": state.shadow,
        "archived": list(releases_of(backend).archive.digests()),
        "history": [
            {"action": s.action, "bundle_digest": s.digest, "replaced": s.replaced or None, "at_ms": s.at_ms}
            for s in state.history
        ],
        "rules": [rule.wire() for rule in bundle.rules],
        "files": dict(sorted(bundle.files.items())),
    }
    if backend.server is not None:
        document["server"] = _server(backend.server, bundle)
    emit(document, as_json=as_json, render=lambda: _text(document))


def _server(server: Opa, bundle: Bundle) -> dict[str, Any] | None:
    """The OPA server's account of itself; None where its client package cannot ask it."""
    from policy.opa.management import state_of

    if server.ca_file is not None:
        return None
    state = asyncio.run(state_of(server.url, token=server.token, data=json.loads(bundle.data_json)["kfm"]["config"]))
    return None if state is None else asdict(state)


def _origin(backend: PolicyBackend, active: str | None) -> str:
    if backend.folder is not None:
        return f"the setting policy.bundle: {backend.folder}"
    return "shipped" if active is None else "published to this home"


def _text(document: dict[str, Any]) -> str:
    fallback = ", with the embedded engine to fall back to" if document["fallback"] else ""
    lines = [
        f"{bold(document['bundle_digest'])}  ({document['origin']})",
        f"engine {document['engine']}{fallback}, module {document['module_sha256'][:16]}",
        f"{len(document['rules'])} rules in {len(document['files'])} files",
        *(f"  {path}" for path in document["files"]),
    ]
    if (server := document.get("server")) is not None:
        said = {"policies": "its policies", "same_data": "the bundle's data", "allow_answer": "citations as policy"}
        shown = ", ".join(f"{what}: {_word(server[name])}" for name, what in said.items())
        lines.append(f"server {'healthy' if server['healthy'] else 'not healthy'}; {shown}")
    if document["shadow"]:
        lines.append(f"in the shadow: {document['shadow']}; see `exhibit policy shadow`")
    for step in document["history"][-LATEST:]:
        when = datetime.fromtimestamp(step["at_ms"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        lines.append(f"{when}  {step['action']:8}  {step['bundle_digest']}")
    return "\n".join(lines)


def _word(found: Any) -> str:
    if found is None:
        return "not shown to this token"
    return ("as it should be" if found else "different") if isinstance(found, bool) else str(len(found))
