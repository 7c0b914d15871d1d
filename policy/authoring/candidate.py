"""A bundle that somebody is working on: its module is built anew where the sources have moved on."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from policy.authoring.build import build
from policy.authoring.checking import check_data
from policy.bundles.bundle import Bundle, load_bundle
from policy.errors import BundleRejected


def open_candidate(folder: Path) -> Bundle:
    """The bundle below `folder` (`rego/`, and `wasm/` if it was built), which is left as it is.

    Without a module that fits the sources, one is built elsewhere. Raises BundleRejected, also for data that no module
    could mend; OpaMissing and OpaFailed where it must be built.
    """
    if not (folder / "rego").is_dir():
        raise BundleRejected(f"{folder} holds no policy bundle: it has no rego folder")
    try:
        return load_bundle(folder)
    except BundleRejected:
        if not check_data(folder).passed:
            raise
        return _built(folder)


def _built(folder: Path) -> Bundle:
    with tempfile.TemporaryDirectory(prefix="exhibit-policy-") as beside:
        copy = Path(beside)
        shutil.copytree(folder / "rego", copy / "rego")
        (copy / "wasm").mkdir()
        for name, content in build(copy).items():
            (copy / "wasm" / name).write_bytes(content)
        return load_bundle(copy)
