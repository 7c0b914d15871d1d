"""Build the bundle's WebAssembly module and its manifest: `python -m policy.authoring.build [--check]`.

`opa` runs inside the bundle's root, since it writes the names of the sources into the module: the same sources give the
same bytes in every checkout. `--check` builds into a temporary folder and compares.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tarfile
import tempfile
from pathlib import Path

from policy.authoring.metadata import declared_rules
from policy.authoring.opa import OPA_VERSION, Opa, find_opa
from policy.bundles.bundle import ENTRYPOINTS, SHIPPED, VERSIONS, bundle_digest, file_digests, read_sources
from policy.errors import PolicyError


def build_module(opa: Opa, root: Path) -> bytes:
    """The module of the bundle below `root`. Raises OpaFailed."""
    entrypoints = [part for each in ENTRYPOINTS for part in ("-e", each)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "bundle.tar.gz"
        opa.run("build", "-b", ".", "--ignore", "*_test.rego", "-t", "wasm", *entrypoints, "-o", str(out), cwd=root)
        with tarfile.open(out) as archive:
            member = archive.extractfile("/policy.wasm")
            if member is None:
                raise PolicyError("opa built a bundle without a module")
            return member.read()


def manifest(opa: Opa, root: Path, module: bytes) -> bytes:
    """The manifest's bytes: digests of the files, of the bundle, of the module, the rules, and what built it."""
    files = file_digests(read_sources(root))
    document = {
        "bundle": bundle_digest(files),
        "entrypoints": list(ENTRYPOINTS),
        "files": files,
        "opa": OPA_VERSION,
        "rules": [each.wire() for each in declared_rules(opa, root)],
        "version": max(VERSIONS),
        "wasm_sha256": hashlib.sha256(module).hexdigest(),
    }
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def build(folder: Path = SHIPPED) -> dict[str, bytes]:
    """The files of `wasm/` for the sources of `rego/` below `folder`, by name."""
    opa, root = find_opa(), folder / "rego"
    module = build_module(opa, root)
    return {"bundle.wasm": module, "manifest.json": manifest(opa, root, module)}


def main(arguments: list[str]) -> int:
    """0 built or equal, 1 different or failed, 2 usage."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m policy.authoring.build [--check]\n")
        return 2
    try:
        built = build()
    except PolicyError as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    return _compare(built) if arguments else _write(built)


def _write(built: dict[str, bytes]) -> int:
    for name, content in built.items():
        (SHIPPED / "wasm" / name).write_bytes(content)
    return 0


def _compare(built: dict[str, bytes]) -> int:
    stale = [name for name, content in built.items() if (SHIPPED / "wasm" / name).read_bytes() != content]
    for name in stale:
        sys.stderr.write(f"policy/wasm/{name} is not what the sources give; run `python -m policy.authoring.build`\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
