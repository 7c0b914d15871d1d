"""A home copied into another folder, encrypted, decrypted, or encrypted under another data key. The home itself stays
as it is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import apsw

from api.errors import HomeBusy, HomeInUse, HomeUnusable
from api.home.archive import FOLDER as ARCHIVE
from api.home.configuration import Configuration
from api.home.encryption.settings import BESIDE, VAULT_FILE, is_database
from api.home.encryption.vault import CIPHER, Vault
from api.home.folder import DIGEST_CACHE, UPLOADS, close_home, only_writer
from retrieval.files.durable import sync_file, sync_folder, write_atomically
from retrieval.files.marks import WRITER_LOCK
from retrieval.files.seal import PLAIN, Seal
from retrieval.fulltext.generations import generations
from retrieval.fulltext.tantivy_folder import Manifest, read_manifest, write_manifest

FULLTEXT = "fulltext"
SEALED_FOLDERS = frozenset({ARCHIVE, "keys", "vector"})
"""The folders of a home of which every file is sealed; the full text is sealed in its own way."""
_LEFT = (*BESIDE, ".lock")
_BUSY_MS = 5_000


def copy_home(configured: Configuration, target: Path, vault: Vault | None) -> int:
    """Copy the home into a folder that holds nothing but the vault's own file; the number of files. Nobody writes to
    the home meanwhile. Raises HomeBusy, HomeInUse, HomeUnusable; the target is gone then."""
    home, seal = configured.home, configured.seal
    if _lies_in(target, home):
        raise HomeInUse(f"{target} lies in the home that would be copied")
    if vault is not None and any(path.is_file() for path in (home / UPLOADS).rglob("*")):
        raise HomeBusy(f"sent files wait in {home / UPLOADS}: let their jobs end, or cancel them")
    close_home(configured)
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(each.name != VAULT_FILE for each in target.iterdir()):
            raise HomeInUse(f"{target} is in use; name a folder that is not there")
        with only_writer(home / WRITER_LOCK), _held(home):
            return sum(_copied(path, home, target, seal, vault) for path in _files(home)) + _fulltext(
                home / FULLTEXT, target / FULLTEXT, seal, vault or PLAIN
            )
    except apsw.BusyError as exc:
        raise HomeBusy(f"another process writes to {home}") from exc
    except (OSError, ValueError, apsw.Error) as exc:
        shutil.rmtree(target, ignore_errors=True)
        raise HomeUnusable(f"{home} cannot be copied into {target}: {getattr(exc, 'strerror', None) or exc}") from exc


def _lies_in(target: Path, home: Path) -> bool:
    try:
        return target.resolve().is_relative_to(home.resolve())
    except (OSError, RuntimeError) as exc:  # a loop of links is the one or the other
        raise HomeUnusable(f"{target} cannot be written: {exc}") from exc


def _files(home: Path) -> Iterator[Path]:
    for path in sorted(home.rglob("*")):
        inside = path.relative_to(home)
        left = path.name.endswith(_LEFT) or path.name.startswith(".") or inside.parts[0] in {FULLTEXT, VAULT_FILE}
        if path.is_file() and not path.is_symlink() and not left:
            yield path


@contextmanager
def _held(home: Path) -> Iterator[None]:
    """Every database of the home, locked against writers, so that the copies are of one moment."""
    with ExitStack() as stack:
        for path in filter(is_database, _files(home)):
            db = stack.enter_context(closing(_connected(path)))
            db.execute("BEGIN IMMEDIATE")
        yield


def _connected(path: Path) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(f"file:{quote(str(path.resolve()))}", flags=flags)
    db.set_busy_timeout(_BUSY_MS)
    return db


def _copied(path: Path, home: Path, target: Path, seal: Seal, vault: Vault | None) -> bool:
    inside = path.relative_to(home)
    to = target / inside
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if is_database(path):
        _copy_database(path, to, vault)
    elif inside.parts[0] in SEALED_FOLDERS or inside.parts == (DIGEST_CACHE,):
        write_atomically(to, (vault or PLAIN).sealed(seal.opened(path.read_bytes())))
    else:
        write_atomically(to, path.read_bytes())
    to.chmod(0o600)
    return True


def _copy_database(path: Path, to: Path, vault: Vault | None) -> None:
    key = "key=" if vault is None else f"cipher={CIPHER}&key={vault.database_key}"
    with closing(_connected(path)) as db:
        db.execute("VACUUM INTO ?", (f"file:{quote(str(to.resolve()))}?{key}",)).fetchall()
    sync_file(to)
    sync_folder(to.parent)


def _fulltext(root: Path, target: Path, seal: Seal, sealed: Seal) -> int:
    if not root.is_dir():
        return 0
    target.mkdir(mode=0o700)
    manifest, held, made = read_manifest(root, seal), generations(root, seal), generations(target, sealed)
    copied = {class_id: made.made(held.entries(name, without=())) for class_id, name in manifest.folders.items()}
    write_manifest(target, Manifest(copied, manifest.empty), sealed)
    return len(copied) + 1
