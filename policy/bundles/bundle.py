"""A policy bundle: Rego sources, data, and the module built from the sources, held together by a manifest of digests.

Bundle digest = digest of `{path: sha256}` over the sources and the data (tests are no part of it). The manifest pins
the module to the sources it was built from, so Rego cannot be edited without a rebuild; data can, and gives the bundle
another digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy.canonical import canonical, digest, ensure_plain
from policy.data import DATA_PATH, PolicyData
from policy.errors import BundleRejected, InputRejected
from policy.rules import RuleInfo, rules_from

ENTRYPOINTS = ("kfm/ai/query", "kfm/ai/evidence", "kfm/ai/answer", "kfm/ai/allow_answer")
# The versions of the manifest, and what makes one into today's; a manifest that names none is of the first.
VERSIONS: Mapping[int, Callable[[Any], Any]] = {1: lambda manifest: manifest}
SHIPPED = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Bundle:
    """The parts of a bundle that an engine needs: `data_json` and `wasm` are bytes as stored, `digest` is asserted in
    every reply. `rules` is what the rules say of themselves, by id."""

    digest: str
    files: Mapping[str, str]
    data: PolicyData
    data_json: bytes
    wasm: bytes
    wasm_sha256: str
    rules: tuple[RuleInfo, ...] = ()


def read_sources(root: Path) -> dict[str, bytes]:
    """The bundle's files below `root` by path with slashes: `*.rego` without `*_test.rego`, and `data.json`."""
    try:
        paths = [p for p in sorted(root.rglob("*")) if p.name == "data.json" or p.suffix == ".rego"]
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in paths if not p.name.endswith("_test.rego")}
    except OSError as exc:
        raise BundleRejected(f"the bundle cannot be read: {exc.strerror}") from exc


def file_digests(sources: Mapping[str, bytes]) -> dict[str, str]:
    """`{path: sha256 in hex}`."""
    return {path: hashlib.sha256(content).hexdigest() for path, content in sources.items()}


def bundle_digest(files: Mapping[str, str]) -> str:
    """Digest of `{path: sha256}` over RFC 8785 bytes."""
    return digest(canonical(dict(files)))


def load_bundle(folder: Path = SHIPPED) -> Bundle:
    """Read the bundle below `folder`: sources, module, manifest.

    Raises BundleRejected where they do not fit together.
    """
    sources = read_sources(folder / "rego")
    files = file_digests(sources)
    manifest = _manifest(folder / "wasm" / "manifest.json")
    _same_rego(files, manifest["files"])
    wasm = _module(folder / "wasm" / "bundle.wasm", str(manifest["wasm_sha256"]))
    if DATA_PATH not in sources:
        raise BundleRejected(f"{DATA_PATH} is missing")
    return Bundle(
        digest=bundle_digest(files),
        files=files,
        data=PolicyData.parse(sources[DATA_PATH]),
        data_json=_data_document(sources),
        wasm=wasm,
        wasm_sha256=str(manifest["wasm_sha256"]),
        rules=rules_from(manifest["rules"]),
    )


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise BundleRejected(f"{path.name} cannot be read") from exc
    wanted = {"files": dict, "wasm_sha256": str, "bundle": str, "opa": str, "entrypoints": list, "rules": list}
    version = manifest.get("version", 1) if isinstance(manifest, dict) else 1
    if type(version) is not int or version not in VERSIONS:
        raise BundleRejected(f"{path.name} is of a version that this program does not read")
    manifest = VERSIONS[version](manifest)
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(key), kind) for key, kind in wanted.items()):
        raise BundleRejected(f"{path.name} is not a manifest")
    return manifest


def _same_rego(files: Mapping[str, str], pinned: Mapping[str, str]) -> None:
    stale = {p for p in files.keys() | pinned.keys() if p.endswith(".rego") and files.get(p) != pinned.get(p)}
    if stale:
        raise BundleRejected(f"the module was built from other sources, rebuild it: {', '.join(sorted(stale))}")


def _module(path: Path, sha256: str) -> bytes:
    try:
        wasm = path.read_bytes()
    except OSError as exc:
        raise BundleRejected(f"{path.name} cannot be read") from exc
    if hashlib.sha256(wasm).hexdigest() != sha256:
        raise BundleRejected(f"{path.name} is not the module that the manifest names")
    return wasm


def _data_document(sources: Mapping[str, bytes]) -> bytes:
    """The `data` document: the data stand at the path of their folder, and in one file, so that no two can overlap."""
    if others := [path for path in sources if path.endswith("data.json") and path != DATA_PATH]:
        raise BundleRejected(f"data belong into {DATA_PATH}, not into {', '.join(others)}")
    value = _json(DATA_PATH, sources[DATA_PATH])
    for folder in reversed(DATA_PATH.split("/")[:-1]):
        value = {folder: value}
    return canonical(value)


def _json(path: str, content: bytes) -> object:
    """Data that every engine reads alike. Raises BundleRejected for floats, large integers, what is not JSON."""
    try:
        value = json.loads(content)
        ensure_plain(value)
    except (ValueError, InputRejected) as exc:
        raise BundleRejected(f"{path}: {exc}") from exc
    return value
