"""`exhibit policy export`, `build`: a bundle to work on, and its module."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.console import bold, configuration, emit
from api.cli.options import AsJson, Home
from api.cli.policy.candidate import chosen_folder, wrong_use


def export(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to make; it must not exist.")],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Copy the bundle in force into a new folder, with its tests and vectors, to work on it there, and the schemas of
    input and data beside it: `opa check -s FOLDER/schemas FOLDER/rego`, and editors that read Rego, type by them."""
    from api.errors import HomeInUse
    from api.home.backends import backends_of
    from api.wiring import bundle_folder, open_bundle
    from policy.authoring.checking import SCHEMAS
    from policy.bundles.archive import copy_bundle

    backend = backends_of(configuration(home)).policy
    bundle = open_bundle(backend)
    if folder.exists():
        raise HomeInUse(f"{folder} already exists")
    with wrong_use():
        copy_bundle(bundle_folder(backend), folder)
        (folder / SCHEMAS.name).mkdir()
        for schema in SCHEMAS.glob("*.json"):
            (folder / SCHEMAS.name / schema.name).write_bytes(schema.read_bytes())
    document = {"bundle_digest": bundle.digest, "folder": str(folder)}
    emit(document, as_json=as_json, render=lambda: f"{bold(bundle.digest)} copied to {folder}")


def build(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder of the bundle.")],
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Compile the rules to the module that decides, and write the manifest that holds them together. Needs `opa`; after
    a change of data alone it is not needed."""
    from policy.authoring.build import build as built
    from policy.bundles.bundle import load_bundle

    files = built(chosen_folder(folder, home))
    with wrong_use():
        (folder / "wasm").mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / "wasm" / name).write_bytes(content)
        bundle = load_bundle(folder)
    document = {"bundle_digest": bundle.digest, "module_sha256": bundle.wasm_sha256, "rules": len(bundle.rules)}
    emit(document, as_json=as_json, render=lambda: f"{bold(bundle.digest)} built, {len(bundle.rules)} rules")
