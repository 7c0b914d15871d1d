"""The encryption of a home: its data key, wrapped under a key that the home does not hold, and what that key opens.

`encryption.json` in the home holds the data key, wrapped with AES-256-GCM under the home key; the settings say where
the home key is (`encryption.key_file`, `key` or `key_command`). Rotating the home key wraps the data key anew and
touches nothing else, so whoever has the home open goes on.

Every database is opened with a key that is derived from the data key, by a hook of the SQLite library: it asks in which
home a file lies, so that no place in the code can forget it. Other files are sealed (`api.home.encryption.sealing`).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import apsw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.errors import HomeInUse, HomeKeyWrong, HomeUnusable
from api.home.encryption.sealing import KEY_BYTES, FileSeal, derived
from api.home.encryption.settings import VAULT_FILE
from retrieval.files.durable import write_json

FORMAT = "exhibit.encryption/1"
CIPHER = "chacha20"
_NONCE_BYTES = 12
_BOUND = FORMAT.encode()


@dataclass(frozen=True, slots=True)
class Vault:
    """The keys of one encrypted home. A `retrieval.files.seal.Seal` of its files."""

    home: Path
    data_key: bytes = field(repr=False)

    def sealed(self, data: bytes) -> bytes:
        """See Seal."""
        return FileSeal(derived(self.data_key, b"files")).sealed(data)

    def opened(self, data: bytes) -> bytes:
        """See Seal."""
        return FileSeal(derived(self.data_key, b"files")).opened(data)

    @property
    def database_key(self) -> str:
        """The key of the databases as the library reads it."""
        return f"raw:{derived(self.data_key, b'databases').hex()}"


def is_encrypted(home: Path) -> bool:
    """True if the home holds a wrapped data key."""
    return (home / VAULT_FILE).exists()


def make_vault(home: Path, home_key: bytes) -> Vault:
    """Encrypt a home that holds nothing yet. Raises HomeInUse, HomeUnusable."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(each.name != "exhibit.toml" for each in home.iterdir()):
            raise HomeInUse(f"{home} is in use; a home is encrypted into another folder: --to PATH")
        vault = Vault(home.resolve(), os.urandom(KEY_BYTES))
        _wrap(vault, home_key)
    except OSError as exc:
        raise HomeUnusable(f"{home} cannot be encrypted: {exc.strerror}") from exc
    _register(vault)
    return vault


def open_vault(home: Path, home_key: bytes) -> Vault:
    """The keys of an encrypted home; from now on this process opens its databases. Raises HomeKeyWrong,
    HomeUnusable."""
    vault = Vault(home.resolve(), _unwrapped(home / VAULT_FILE, home_key))
    _register(vault)
    return vault


def rotate(vault: Vault, new_key: bytes) -> None:
    """Wrap the data key under another home key: one small file, replaced atomically. The old key opens nothing from now
    on. Raises HomeUnusable."""
    try:
        _wrap(vault, new_key)
    except OSError as exc:
        raise HomeUnusable(f"{vault.home / VAULT_FILE} cannot be written: {exc.strerror}") from exc


def _wrap(vault: Vault, home_key: bytes) -> None:
    nonce = os.urandom(_NONCE_BYTES)
    wrapped = AESGCM(derived(home_key, b"wrapping")).encrypt(nonce, vault.data_key, _BOUND)
    write_json(vault.home / VAULT_FILE, {"format": FORMAT, "cipher": CIPHER, "wrapped": (nonce + wrapped).hex()})


def _unwrapped(path: Path, home_key: bytes) -> bytes:
    try:
        body = json.loads(path.read_bytes())
        if body["format"] != FORMAT or body["cipher"] != CIPHER:
            raise HomeUnusable(f"{path} is of a version that this program does not read")
        wrapped = bytes.fromhex(body["wrapped"])
        cipher = AESGCM(derived(home_key, b"wrapping"))
        return cipher.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], _BOUND)
    except InvalidTag:
        raise HomeKeyWrong(
            f"the home {path.parent} is encrypted under another key than the one that was given"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise HomeUnusable(f"{path} cannot be read") from exc


_opened: dict[Path, Vault] = {}
_opening = Lock()


def _register(vault: Vault) -> None:
    """The one state of the process: which homes it has the keys of. The library's hooks are process-wide too."""
    with _opening:
        if _give_key not in apsw.connection_hooks:
            apsw.connection_hooks.append(_give_key)
        _opened[vault.home] = vault


def forget_vault(home: Path) -> None:
    """The home at that path is not encrypted, whatever lay there before."""
    if _opened:
        with _opening:
            _opened.pop(home.resolve(), None)


def _give_key(connection: apsw.Connection) -> None:
    """Called by the library for every connection, before its first statement."""
    if not connection.filename:
        return  # in memory
    path = Path(connection.filename).resolve()
    vault = next((_opened[folder] for folder in path.parents if folder in _opened), None)
    if vault is not None:
        connection.execute(f"PRAGMA cipher = '{CIPHER}'").fetchall()
        connection.execute(f"PRAGMA key = '{vault.database_key}'").fetchall()
