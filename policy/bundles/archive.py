"""Every bundle that has decided or may decide here, by its digest, so that old decisions can be made again.

A bundle lies whole in `<folder>/<hex of its digest>/`: `rego/` (with its tests), `wasm/`, `vectors/`, and its signature
if it has one. It is written
once and never changed; what is read back must still have the digest that it is filed under.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from policy.bundles.bundle import SHIPPED, Bundle, bundle_digest, load_bundle
from policy.errors import BundleNotFound, BundleRejected

PARTS = ("rego", "wasm", "vectors")
SIGNATURES = ".signatures.json"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class BundleArchive:
    """The bundles below `folder`, which need not exist yet."""

    folder: Path

    def __contains__(self, digest: str) -> bool:
        return self._place(digest).is_dir()

    def put(self, source: Path, *, renew: bool = False) -> Bundle:
        """File the bundle below `source`, unless it is there already; with `renew` also in the place of one that has
        another module, tests or vectors, or was damaged. The digest is that of rules and data, so two folders can claim
        it. Gives back what is filed. Raises BundleRejected."""
        bundle = load_bundle(source)
        place = self._place(bundle.digest)
        if not place.is_dir() or (renew and _state(place) != _state(source)):
            self._write(source, place, renew=renew)
        return self.load(bundle.digest)

    def load(self, digest: str) -> Bundle:
        """The bundle of that digest. Raises BundleNotFound; BundleRejected where its files were changed."""
        bundle = load_bundle(self.path(digest))
        if bundle.digest != digest:
            raise BundleRejected(f"the archived bundle {digest} was changed: it is {bundle.digest} now")
        return bundle

    def path(self, digest: str) -> Path:
        """The folder of the bundle of that digest. Raises BundleNotFound."""
        place = self._place(digest)
        if not place.is_dir():
            raise BundleNotFound(f"there is no policy bundle {digest} in the archive")
        return place

    def digests(self) -> tuple[str, ...]:
        """The digests on file, sorted."""
        if not self.folder.is_dir():
            return ()
        return tuple(sorted(f"sha256:{p.name}" for p in self.folder.iterdir() if _DIGEST.fullmatch(f"sha256:{p.name}")))

    def resolve(self, prefix: str) -> str:
        """The one digest that begins so, with or without `sha256:`. Raises BundleNotFound for none or several."""
        start = "sha256:" + prefix.removeprefix("sha256:")
        found = [each for each in self.digests() if each.startswith(start)]
        if len(found) != 1:
            raise BundleNotFound(f"{len(found)} archived policy bundles have a digest that begins with {prefix}")
        return found[0]

    def _place(self, digest: str) -> Path:
        match = _DIGEST.fullmatch(digest)
        if match is None:
            raise BundleNotFound(f"{digest} is not the digest of a policy bundle")
        return self.folder / match[1]

    def _write(self, source: Path, place: Path, *, renew: bool) -> None:
        """Copy beside, then rename: a reader sees all of it or nothing, and of two writers the first wins."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.folder, prefix=".new-") as beside:
                made = Path(beside) / place.name
                copy_bundle(source, made)
                if renew and place.is_dir():
                    place.rename(Path(beside) / "before")
                if not place.is_dir():
                    made.rename(place)
        except OSError as exc:
            if not place.is_dir():
                raise BundleRejected(f"the policy bundle cannot be archived: {exc.strerror}") from exc


def copy_bundle(source: Path, target: Path) -> None:
    """Copy the parts of the bundle below `source` to `target`, which must not exist, by their contents alone: who may
    read the copy is not for the original to say. Decision vectors that the source does not have are the shipped
    ones."""
    target.mkdir(parents=True)
    for path, file in bundle_files(source):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target / path)
    if (signed := signature_of(source)) is not None:
        (target / SIGNATURES).write_bytes(signed)


def signature_of(folder: Path) -> bytes | None:
    """The content of its `.signatures.json`; None for one that has none."""
    try:
        return (folder / SIGNATURES).read_bytes()
    except OSError:
        return None


def _state(folder: Path) -> tuple[str, bytes | None]:
    return folder_digest(folder), signature_of(folder)


def folder_digest(folder: Path) -> str:
    """Digest of every file that belongs to the bundle below `folder`: rules and their tests, data, the module and its
    manifest, vectors and invariants. The bundle's own digest is of rules and data alone. Raises BundleRejected."""
    try:
        return bundle_digest(
            {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in bundle_files(folder)}
        )
    except OSError as exc:
        raise BundleRejected(f"the bundle cannot be read: {exc.strerror}") from exc


def bundle_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of the bundle below `folder` with their paths in it; parts that it does not have are the shipped
    ones."""
    for part in PARTS:
        root = folder / part if (folder / part).is_dir() else SHIPPED / part
        for file in sorted(root.rglob("*")):
            path = file.relative_to(root)
            if file.is_file() and not any(each == "__pycache__" or each.startswith(".") for each in path.parts):
                yield f"{part}/{path.as_posix()}", file
