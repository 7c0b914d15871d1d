"""`exhibit policy sign`: the signature of a bundle, for homes and OPA servers that pin the keys of publishers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.console import bold, emit
from api.cli.options import AsJson
from api.cli.policy.candidate import chosen_folder, wrong_use


def sign(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder of the bundle.")],
    key: Annotated[
        Path, typer.Option("--key", help="PEM file of the private key: RSA, or elliptic (P-256, P-384, P-521).")
    ],
    server: Annotated[
        Path | None, typer.Option("--server", help="File to write: the signed archive for an OPA server (tar.gz).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Sign every file of the bundle: `.signatures.json` in its folder, in OPA's format. Sign again after each change.
    A home with `policy.verification_keys` lets no other bundle decide."""
    from policy.authoring.server_bundle import signed_server_bundle
    from policy.bundles.bundle import load_bundle
    from policy.bundles.signatures import sign_folder, signing_key

    chosen_folder(folder, None)
    with wrong_use():
        private = signing_key(key.read_text("ascii", "replace"))
        digest = load_bundle(folder).digest
        if server is not None:  # first: where it cannot be written, nothing is signed
            server.write_bytes(signed_server_bundle(folder, private))
        covered = sign_folder(folder, private)
    document = {"bundle_digest": digest, "files": covered, "algorithm": private.algorithms[0]}
    emit(document, as_json=as_json, render=lambda: f"{bold(digest)} signed, {covered} files")
