"""The bundle as an OPA server takes it: `python -m policy.authoring.server_bundle OUT.tar.gz [FOLDER]`.

It needs no `opa`. The archive holds the sources and the data without tests, and a manifest whose revision is the
bundle's digest, which the server then asserts in each reply. The same sources give the same bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
from pathlib import Path

from policy.bundles.archive import SIGNATURES
from policy.bundles.bundle import SHIPPED, bundle_digest, file_digests, load_bundle, read_sources
from policy.bundles.signatures import Key, signatures
from policy.errors import BundleRejected, PolicyError


def server_bundle(folder: Path = SHIPPED) -> bytes:
    """The archive of the bundle below `folder`. Raises BundleRejected where its module was built from other sources."""
    if load_bundle(folder).digest != bundle_digest(file_digests(read_sources(folder / "rego"))):
        raise BundleRejected("the bundle changed while it was read")
    return archive_of(folder)


def archive_of(folder: Path) -> bytes:
    """The archive of the sources below `folder`, whether or not a module was built from them."""
    return archive(_files(folder))


def signed_server_bundle(folder: Path, key: Key) -> bytes:
    """As `server_bundle`, with a signature for servers that were given the public key. Raises BundleRejected."""
    server_bundle(folder)
    files = _files(folder)
    return archive({**files, SIGNATURES: signatures(files, key)})


def _files(folder: Path) -> dict[str, bytes]:
    sources = read_sources(folder / "rego")
    roots = sorted({path.split("/")[0] for path in sources})
    manifest = {"revision": bundle_digest(file_digests(sources)), "roots": roots, "rego_version": 1}
    return {".manifest": json.dumps(manifest, sort_keys=True).encode(), **sources}


def archive(files: dict[str, bytes]) -> bytes:
    """A tar.gz of the files, without times and owners."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, content in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def main(arguments: list[str]) -> int:
    """0 written, 1 failed, 2 usage."""
    if len(arguments) not in (1, 2):
        sys.stderr.write("usage: python -m policy.authoring.server_bundle OUT.tar.gz [FOLDER]\n")
        return 2
    try:
        Path(arguments[0]).write_bytes(server_bundle(*map(Path, arguments[1:])))
    except (PolicyError, OSError) as exc:
        sys.stderr.write(f"{exc}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
