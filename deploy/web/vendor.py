"""Copies what the pages take from npm to where it is served or tested, and writes what was copied, with digests.

`make web` runs it after `npm ci`, which checks the integrity of every package against the lock. With --check it writes
nothing and fails where a byte differs."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
COPIED = {
    "api/web/vendor": {
        "maplibre-gl.mjs": "maplibre-gl/dist/maplibre-gl.mjs",
        "maplibre-gl-worker.mjs": "maplibre-gl/dist/maplibre-gl-worker.mjs",
        "maplibre-gl.css": "maplibre-gl/dist/maplibre-gl.css",
        "maplibre-gl.LICENSE.txt": "maplibre-gl/LICENSE.txt",
    },
    "tests/browser/vendor": {"axe.min.js": "axe-core/axe.min.js", "axe-core.LICENSE.txt": "axe-core/LICENSE"},
}


def wanted() -> dict[Path, bytes]:
    """Every file that is kept, from the installed packages, and a manifest for each folder."""
    lock = json.loads((HERE / "package-lock.json").read_text("utf-8"))["packages"]
    files: dict[Path, bytes] = {}
    for folder, names in COPIED.items():
        manifest = {}
        for name, path in names.items():
            data = (HERE / "node_modules" / path).read_bytes()
            package = path.split("/")[0]
            files[ROOT / folder / name] = data
            manifest[name] = {
                "package": f"{package}@{lock[f'node_modules/{package}']['version']}",
                "integrity": lock[f"node_modules/{package}"]["integrity"],
                "path": path.partition("/")[2],
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        files[ROOT / folder / "manifest.json"] = (json.dumps(manifest, indent=2, sort_keys=True) + "\n").encode()
    return files


def main(arguments: list[str]) -> int:
    """Write, or compare with --check; the exit code says whether all was well."""
    differing = [path for path, data in wanted().items() if not path.is_file() or path.read_bytes() != data]
    for path in differing:
        print(path.relative_to(ROOT))  # noqa: T201
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted()[path])
    return int("--check" in arguments and bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
