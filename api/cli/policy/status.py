"""`exhibit policy status`."""

from __future__ import annotations

from api.cli.console import bold, configuration, emit
from api.cli.options import AsJson, Home


def status(home: Home = None, as_json: AsJson = False) -> None:
    """The bundle in use: digest, engine, files."""
    from api.backends import backends_of
    from api.wiring import open_bundle

    bundle = open_bundle(backends_of(configuration(home)).policy)
    document = {
        "bundle_digest": bundle.digest,
        "engine": "wasm",
        "module_sha256": bundle.wasm_sha256,
        "files": dict(sorted(bundle.files.items())),
    }
    files = "\n".join(f"  {path}" for path in sorted(bundle.files))
    emit(
        document,
        as_json=as_json,
        render=lambda: f"{bold(bundle.digest)}\nengine wasm, module {bundle.wasm_sha256[:16]}\n{files}",
    )
