"""`exhibit home`: the encryption of the home folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.cli.console import configuration, emit, kept_home, note
from api.cli.options import AsJson, Home

app = typer.Typer(
    help="The encryption of the home folder.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
_To = Annotated[Path, typer.Option("--to", help="Folder that the copy is written to; it must not be there.")]


@app.callback()
def group() -> None:
    """The encryption of the home folder."""


@app.command()
def key(path: Annotated[Path, typer.Argument(help="File that is made; keep it apart from the home.")]) -> None:
    """Make a file with a new key."""
    from api.home.encryption.home_key import make_key_file

    make_key_file(path)
    note(f"{path}: a new key. Without it nobody reads what is encrypted under it: keep a copy elsewhere.")


@app.command()
def encrypt(
    home: Home = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Folder for an encrypted copy of a home that is in use; without: a new home."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Encrypt a home that holds nothing yet, or write an encrypted copy of one. `encryption.key_file`, `key` or
    `key_command` names the key. An encrypted home is copied under a new data key."""
    from api.home.encryption.home_key import home_key
    from api.home.encryption.vault import make_vault
    from api.wiring.recrypt import copy_home

    configured = kept_home(home) if to is not None else configuration(home)
    target = to or configured.home
    vault = make_vault(target, home_key(configured.settings.encryption, target))
    copied = copy_home(configured, target, vault) if to is not None else 0
    _tell({"home": str(target), "encrypted": True, "files": copied}, as_json=as_json)
    if to is not None:
        note(f"{configured.home} is as it was and as readable as it was: delete it once {target} is in use.")


@app.command()
def decrypt(to: _To, home: Home = None, as_json: AsJson = False) -> None:
    """Write a copy of an encrypted home that needs no key."""
    from api.wiring.recrypt import copy_home

    configured = kept_home(home)
    copied = copy_home(configured, to, None)
    _tell({"home": str(to), "encrypted": False, "files": copied}, as_json=as_json)


@app.command("rotate-key")
def rotate_key(
    home: Home = None,
    new_key_file: Annotated[str | None, typer.Option("--new-key-file", help="File with the new key.")] = None,
    new_key_command: Annotated[str | None, typer.Option("--new-key-command", help="Command that prints it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Wrap the data key of the home under another key; servers go on meanwhile. Then let the settings name the new key:
    the old one opens nothing from now on."""
    from api.errors import RequestRejected
    from api.home.encryption.home_key import home_key
    from api.home.encryption.settings import Encryption
    from api.home.encryption.vault import Vault, rotate

    configured = kept_home(home)
    if not isinstance(configured.seal, Vault):
        raise RequestRejected(f"the home {configured.home} is not encrypted")
    if (new_key_file is None) == (new_key_command is None):
        raise RequestRejected("name the new key: --new-key-file or --new-key-command")
    rotate(configured.seal, home_key(Encryption(key_file=new_key_file, key_command=new_key_command), configured.home))
    _tell({"home": str(configured.home), "rotated": True}, as_json=as_json)


def _tell(told: dict[str, object], *, as_json: bool) -> None:
    emit(told, as_json=as_json, render=lambda: ", ".join(f"{name}: {value}" for name, value in told.items()))
