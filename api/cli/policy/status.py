"""`exhibit policy status`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from api.cli.console import bold, configuration, emit
from api.cli.options import AsJson, Home

if TYPE_CHECKING:
    from api.backends import PolicyBackend

LATEST = 10


def status(home: Home = None, as_json: AsJson = False) -> None:
    """The bundle in force: digest, where it comes from, engine, rules, what was in force before, what runs beside."""
    from api.backends import OpaPolicy, backends_of
    from api.wiring import open_bundle, releases_of

    backend = backends_of(configuration(home)).policy
    bundle, state = open_bundle(backend), releases_of(backend).state()
    document = {
        "bundle_digest": bundle.digest,
        "origin": _origin(backend, state.active),
        "engine": f"opa server at {backend.url}" if isinstance(backend, OpaPolicy) else "wasm",
        "fallback": isinstance(backend, OpaPolicy) and backend.fallback,
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
    emit(document, as_json=as_json, render=lambda: _text(document))


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
    if document["shadow"]:
        lines.append(f"in the shadow: {document['shadow']}; see `exhibit policy shadow`")
    for step in document["history"][-LATEST:]:
        when = datetime.fromtimestamp(step["at_ms"] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
        lines.append(f"{when}  {step['action']:8}  {step['bundle_digest']}")
    return "\n".join(lines)
