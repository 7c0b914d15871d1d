"""The key of an encrypted home: 32 bytes, as 64 hexadecimal digits, from a file, the environment or a command."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from pathlib import Path

from api.errors import HomeKeyMissing, HomeUnusable
from api.home.encryption.sealing import KEY_BYTES
from api.home.encryption.settings import Encryption
from api.home.stores import path_of

_COMMAND_S = 30


def home_key(chosen: Encryption, home: Path) -> bytes:
    """The key that the settings name. Raises HomeKeyMissing, whose text never holds any of it."""
    if chosen.key is not None:
        return read_key(chosen.key.get_secret_value(), "encryption.key")
    if chosen.key_file is not None:
        return _of_file(path_of(chosen.key_file) or Path(), home)
    if chosen.key_command is not None:
        return _of_command(chosen.key_command)
    raise HomeKeyMissing(
        f"the home {home} needs its key: name it in encryption.key_file, EXHIBIT_ENCRYPTION__KEY or"
        " encryption.key_command"
    )


def read_key(text: str, where: str) -> bytes:
    """The key that a text writes. Raises HomeKeyMissing."""
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise HomeKeyMissing(f"{where} is not a key of 64 hexadecimal digits")
    return key


def make_key_file(path: Path) -> None:
    """A new key in a file that its owner alone can read. Raises HomeUnusable, also where the file is there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(os.urandom(KEY_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as exc:
        raise HomeUnusable(f"the key file {path} cannot be made: {exc.strerror}") from exc


def _of_file(path: Path, home: Path) -> bytes:
    if path.resolve().is_relative_to(home.resolve()):
        raise HomeKeyMissing("encryption.key_file lies in the home: who takes the home would have its key")
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise HomeKeyMissing(f"{path} can be reached by others than its owner; set its mode to 0600")
        return read_key(path.read_text("ascii"), str(path))
    except (OSError, UnicodeDecodeError) as exc:
        raise HomeKeyMissing(f"the key file {path} cannot be read") from exc


def _of_command(command: str) -> bytes:
    try:
        done = subprocess.run(shlex.split(command), capture_output=True, timeout=_COMMAND_S, check=True)  # noqa: S603
    except (OSError, ValueError, subprocess.SubprocessError) as exc:
        raise HomeKeyMissing("encryption.key_command did not print a key") from exc
    return read_key(done.stdout.decode("ascii", "replace"), "what encryption.key_command prints")
