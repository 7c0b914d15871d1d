"""The key ring: the log's signing key, the pseudonym key, and one wrapping key per tenant.

`FileKeyRing` keeps them as files of mode 0600 in a folder of mode 0700. A ring backed by a key service keeps the same
Protocol.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from ledger.errors import KeyUnusable, MalformedNote
from ledger.notes.note import Signer, SigningKey, VerifierKey, parse_signing_key

LOG = "log"
LOG_KEY = f"{LOG}.key"
PSEUDONYM_KEY = "pseudonym.key"
SECRET_BYTES = 32


class Seal(Protocol):
    """How the bytes of key files are kept. `opened` raises ValueError for what was not sealed under the same key."""

    def sealed(self, data: bytes) -> bytes: ...
    def opened(self, data: bytes) -> bytes: ...


class PlainFiles:
    """A Seal that keeps bytes as they are."""

    def sealed(self, data: bytes) -> bytes:
        """See Seal."""
        return data

    def opened(self, data: bytes) -> bytes:
        """See Seal."""
        return data


_PLAIN = PlainFiles()


class KeyRing(Protocol):
    """Holds secrets; hands them to the ledger only.

    - `signer` signs for the log with its first key; a key service may stand behind it (`ledger.notes.note.Signer`).
    - `signer_of` returns the signer of a later key, None if the ring does not hold it; `successor` returns the signer
      that follows a key of the ring, made durably on first use and the same ever after.
    - `tenant_key` returns 32 bytes that stay the same for that tenant, creating them durably on first use if `create`.
    - `likely_key` returns those that any copy of the ring would create for the tenant; nothing is kept.
    All raise KeyUnusable. Safe to call concurrently."""

    @property
    def signer(self) -> Signer: ...

    @property
    def pseudonym_key(self) -> bytes: ...

    async def signer_of(self, key: VerifierKey) -> Signer | None: ...
    async def successor(self, key: VerifierKey) -> Signer: ...
    async def tenant_key(self, tenant: str, *, create: bool) -> bytes: ...
    def likely_key(self, tenant: str) -> bytes: ...


def pseudonym(key: bytes, domain: str, value: str) -> str:
    """A stable name that reveals neither value nor domain without the key: 32 lower-case hex digits."""
    message = b"exhibit-pseudonym/1\x00" + domain.encode() + b"\x00" + value.encode()
    return hmac.digest(key, message, "sha256")[:16].hex()


class FileKeyRing:
    """Keys in a folder. Open it with `open_key_ring`; tenants are named by their pseudonym. The log's keys are
    `<base>.key`, `<base>-2.key` and so on."""

    def __init__(
        self,
        folder: Path,
        *,
        base: str,
        signers: list[SigningKey],
        pseudonym_key: bytes,
        entropy: Callable[[int], bytes],
        seal: Seal,
    ) -> None:
        self._folder = folder
        self._seal = seal
        self._base = base
        self._signers = signers
        self._pseudonym_key = pseudonym_key
        self._entropy = entropy
        self._tenants: dict[str, bytes] = {}
        self._lock = asyncio.Lock()

    @property
    def signer(self) -> SigningKey:
        """The key that signed the first checkpoints."""
        return self._signers[0]

    async def signer_of(self, key: VerifierKey) -> SigningKey | None:
        """The signer of a key of the log, None if it is not in the folder; another process may have put it there."""
        async with self._lock:
            if all(signer.verifier != key for signer in self._signers):
                self._signers += await asyncio.to_thread(
                    _later_keys, self._folder, self._base, len(self._signers), key.name, self._seal
                )
        return next((signer for signer in self._signers if signer.verifier == key), None)

    async def successor(self, key: VerifierKey) -> SigningKey:
        """The signer of the key that follows; its file is made if it is not there. Raises KeyUnusable."""
        async with self._lock:
            numbers = [n for n, signer in enumerate(self._signers) if signer.verifier == key]
            if not numbers:
                raise KeyUnusable(f"the key {key} is not in {self._folder}")
            if numbers[0] + 1 == len(self._signers):
                path = self._folder / _log_key(self._base, len(self._signers) + 1)
                made = await asyncio.to_thread(_signing_key, path, key.name, self._entropy, self._seal, create=True)
                self._signers.append(made)
            return self._signers[numbers[0] + 1]

    @property
    def pseudonym_key(self) -> bytes:
        """The key under which pseudonyms are made."""
        return self._pseudonym_key

    async def tenant_key(self, tenant: str, *, create: bool) -> bytes:
        """32 bytes that wrap the tenant's salts and keys. Raises KeyUnusable."""
        if tenant in self._tenants:
            return self._tenants[tenant]
        async with self._lock:
            path = self._folder / f"tenant-{tenant}.key"
            made = self.likely_key(tenant)
            key = await asyncio.to_thread(_secret, path, lambda _: made, self._seal, create=create)
            self._tenants[tenant] = key
            return key

    def likely_key(self, tenant: str) -> bytes:
        """See KeyRing: from the pseudonym key, so that copies of the folder that were made before agree."""
        return hmac.digest(self._pseudonym_key, b"exhibit-tenant-key/1\x00" + tenant.encode(), "sha256")


async def open_key_ring(
    folder: Path,
    *,
    origin: str,
    create: bool,
    base: str = LOG,
    entropy: Callable[[int], bytes] = os.urandom,
    seal: Seal = _PLAIN,
) -> FileKeyRing:
    """The ring in `folder` for the log `origin`, whose keys are named after `base`; with `create`, what is missing is
    made. Raises KeyUnusable for a missing, damaged or foreign key, and for a file or folder that others than its owner
    can reach."""
    return await asyncio.to_thread(_open, folder, origin, base, entropy, seal, create=create)


def _open(
    folder: Path, origin: str, base: str, entropy: Callable[[int], bytes], seal: Seal, *, create: bool
) -> FileKeyRing:
    try:
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_private(folder)
        signers = [_signing_key(folder / _log_key(base, 1), origin, entropy, seal, create=create)]
        signers += _later_keys(folder, base, 1, origin, seal)
        secret = _secret(folder / PSEUDONYM_KEY, entropy, seal, create=create)
    except OSError as exc:
        raise KeyUnusable(f"the key folder {folder} cannot be used: {exc.strerror}") from exc
    return FileKeyRing(folder, base=base, signers=signers, pseudonym_key=secret, entropy=entropy, seal=seal)


def _later_keys(folder: Path, base: str, known: int, origin: str, seal: Seal) -> list[SigningKey]:
    """The signing keys in the folder beyond the first `known` ones. Raises KeyUnusable."""
    found: list[SigningKey] = []
    while (path := folder / _log_key(base, known + len(found) + 1)).exists():
        found.append(_signing_key(path, origin, os.urandom, seal, create=False))
    return found


def _log_key(base: str, number: int) -> str:
    return f"{base}.key" if number == 1 else f"{base}-{number}.key"


def _signing_key(path: Path, origin: str, entropy: Callable[[int], bytes], seal: Seal, *, create: bool) -> SigningKey:
    if create and not path.exists():
        write_private(path, SigningKey.from_seed(origin, entropy(SECRET_BYTES)).encode() + "\n", seal)
    try:
        key = parse_signing_key(read_private(path, seal).strip())
    except MalformedNote as exc:
        raise KeyUnusable(f"{path} is not a signing key: {exc}") from exc
    if key.name != origin:
        raise KeyUnusable(f"{path} signs for {key.name}, not for {origin}")
    return key


def _secret(path: Path, entropy: Callable[[int], bytes], seal: Seal, *, create: bool) -> bytes:
    if create and not path.exists():
        write_private(path, entropy(SECRET_BYTES).hex() + "\n", seal)
    try:
        key = bytes.fromhex(read_private(path, seal).strip())
    except ValueError as exc:
        raise KeyUnusable(f"{path} is not a key") from exc
    if len(key) != SECRET_BYTES:
        raise KeyUnusable(f"{path} is not a key of {SECRET_BYTES} bytes")
    return key


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can reach. Raises KeyUnusable."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_private(folder)
    except OSError as exc:
        raise KeyUnusable(f"the key folder {folder} cannot be used: {exc.strerror}") from exc


def read_private(path: Path, seal: Seal = _PLAIN) -> str:
    """The text of a key file. Raises KeyUnusable, also for one that others than its owner can reach."""
    try:
        _check_private(path)
        return seal.opened(path.read_bytes()).decode("ascii")
    except FileNotFoundError as exc:
        raise KeyUnusable(f"the key {path} is missing") from exc
    except (OSError, ValueError) as exc:
        raise KeyUnusable(f"the key {path} cannot be read") from exc


def _check_private(path: Path) -> None:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise KeyUnusable(f"{path} can be reached by others than its owner; set its mode to 0600 (a folder: 0700)")


def write_private(path: Path, text: str, seal: Seal = _PLAIN) -> None:
    """Write a key file whole and durably; if another process was first, its key stays."""
    try:
        descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(seal.sealed(text.encode("ascii")))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        finally:
            Path(draft).unlink()
        sync_folder(path.parent)
    except OSError as exc:
        raise KeyUnusable(f"the key {path} cannot be written: {exc.strerror}") from exc


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
