"""The archive of bundles and the state of the home's policy."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from policy.bundles.archive import BundleArchive, copy_bundle
from policy.bundles.bundle import DATA_PATH, SHIPPED, load_bundle
from policy.bundles.releases import Releases, ReleaseState
from policy.errors import BundleNotFound, BundleRejected


def candidate(folder: Path, support_milli: int) -> Path:
    """A copy of the shipped bundle with another threshold."""
    copy_bundle(SHIPPED, folder)
    data = json.loads((folder / "rego" / DATA_PATH).read_text())
    data["limits"]["support_milli"] = support_milli
    (folder / "rego" / DATA_PATH).write_text(json.dumps(data))
    return folder


@pytest.fixture
def archive(tmp_path: Path) -> BundleArchive:
    return BundleArchive(tmp_path / "bundles")


def test_what_is_filed_comes_back_whole(archive: BundleArchive, tmp_path: Path) -> None:
    filed = archive.put(candidate(tmp_path / "a", 600))
    assert archive.load(filed.digest) == filed == load_bundle(tmp_path / "a")
    assert archive.digests() == (filed.digest,)
    assert (archive.path(filed.digest) / "rego" / "kfm" / "ai" / "query_test.rego").is_file()
    assert sorted(p.name for p in (archive.path(filed.digest) / "vectors").iterdir())
    assert [p.name for p in archive.folder.iterdir()] == [filed.digest.removeprefix("sha256:")]


def test_filing_twice_changes_nothing(archive: BundleArchive) -> None:
    first = archive.put(SHIPPED)
    before = (archive.path(first.digest)).stat().st_mtime_ns
    assert archive.put(SHIPPED) == first
    assert archive.path(first.digest).stat().st_mtime_ns == before


def remade(folder: Path) -> Path:
    """A copy of the shipped bundle that claims another module for the same rules."""
    copy_bundle(SHIPPED, folder)
    module = (folder / "wasm" / "bundle.wasm").read_bytes() + b"\0\2\1x"  # a custom section
    (folder / "wasm" / "bundle.wasm").write_bytes(module)
    manifest = json.loads((folder / "wasm" / "manifest.json").read_text())
    manifest["wasm_sha256"] = hashlib.sha256(module).hexdigest()
    (folder / "wasm" / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_another_module_takes_the_place_only_of_what_is_renewed(archive: BundleArchive, tmp_path: Path) -> None:
    """Rules and data make the digest; whoever has tried one module must not get another one that was filed before."""
    filed = archive.put(remade(tmp_path / "other"))
    tried = load_bundle()
    assert filed.digest == tried.digest
    assert archive.put(SHIPPED) == filed != tried
    assert archive.put(SHIPPED, renew=True) == tried == archive.load(tried.digest)
    assert [p.name for p in archive.folder.iterdir()] == [tried.digest.removeprefix("sha256:")]


def test_what_was_damaged_is_renewed(archive: BundleArchive) -> None:
    filed = archive.put(SHIPPED)
    (archive.path(filed.digest) / "wasm" / "bundle.wasm").write_bytes(b"")
    with pytest.raises(BundleRejected):
        archive.put(SHIPPED)
    assert archive.put(SHIPPED, renew=True) == filed


def test_a_bundle_of_stale_sources_is_not_filed(archive: BundleArchive, tmp_path: Path) -> None:
    stale = candidate(tmp_path / "a", 600)
    (stale / "rego" / "kfm" / "ai" / "query.rego").write_text("package kfm.ai\n")
    with pytest.raises(BundleRejected):
        archive.put(stale)
    assert archive.digests() == ()


def test_a_filed_bundle_that_was_changed_is_not_loaded(archive: BundleArchive, tmp_path: Path) -> None:
    filed = archive.put(candidate(tmp_path / "a", 600))
    place = archive.path(filed.digest) / "rego" / DATA_PATH
    place.write_text(place.read_text().replace("600", "1"))
    with pytest.raises(BundleRejected, match="was changed"):
        archive.load(filed.digest)


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "0" * 64, "../x", "sha256:../../etc", "0" * 64])
def test_what_is_not_filed(archive: BundleArchive, digest: str) -> None:
    archive.put(SHIPPED)
    for look in (archive.load, archive.path):
        with pytest.raises(BundleNotFound):
            look(digest)


def test_a_digest_is_named_by_its_beginning(archive: BundleArchive, tmp_path: Path) -> None:
    one, two = archive.put(SHIPPED).digest, archive.put(candidate(tmp_path / "a", 600)).digest
    assert archive.resolve(one[:20]) == one
    assert archive.resolve(two.removeprefix("sha256:")) == two
    for prefix in ("", "sha256:", "zz", "../"):
        with pytest.raises(BundleNotFound):
            archive.resolve(prefix)


# ----------------------------------------------------------------------------------------------------------- the state


@pytest.fixture
def releases(tmp_path: Path) -> Releases:
    return Releases(tmp_path / "policy")


def test_without_a_file_the_shipped_bundle_decides(releases: Releases) -> None:
    assert releases.state() == ReleaseState(None, None, ())
    assert not releases.folder.exists()
    with pytest.raises(BundleNotFound):
        releases.before()
    with pytest.raises(BundleNotFound):
        releases.unshadow(at_ms=1)


def test_publishing_and_rolling_back_twice(releases: Releases, tmp_path: Path) -> None:
    old = releases.archive.put(SHIPPED).digest
    one = releases.archive.put(candidate(tmp_path / "a", 600)).digest
    two = releases.archive.put(candidate(tmp_path / "b", 700)).digest
    releases.publish(one, replaced=old, at_ms=1)
    releases.publish(two, replaced=one, at_ms=2)
    assert (releases.state().active, releases.before()) == (two, one)
    releases.roll_back(one, replaced=two, at_ms=3)
    assert (releases.state().active, releases.before()) == (one, old)
    releases.roll_back(old, replaced=one, at_ms=4)
    with pytest.raises(BundleNotFound):
        releases.before()
    assert [(s.action, s.at_ms) for s in releases.state().history] == [
        ("publish", 1),
        ("publish", 2),
        ("rollback", 3),
        ("rollback", 4),
    ]


def test_the_shadow_changes_nothing_else(releases: Releases, tmp_path: Path) -> None:
    one = releases.archive.put(candidate(tmp_path / "a", 600)).digest
    assert releases.shadow(one, at_ms=1) == releases.state()
    assert (releases.state().active, releases.state().shadow) == (None, one)
    assert releases.unshadow(at_ms=2).shadow is None


@pytest.mark.parametrize("act", [lambda r, d: r.publish(d, replaced="", at_ms=1), lambda r, d: r.shadow(d, at_ms=1)])
def test_only_what_is_filed_is_activated(releases: Releases, act: Callable[[Releases, str], object]) -> None:
    with pytest.raises(BundleNotFound):
        act(releases, "sha256:" + "0" * 64)
    assert not releases.file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        '{"active": 1, "shadow": null, "history": []}',
        '{"active": null, "shadow": null}',
        '{"active": null, "shadow": null, "history": [{"action": "sing", "digest": "", "at_ms": 1, "replaced": ""}]}',
        '{"active": null, "shadow": null, "history": [{}]}',
    ],
)
def test_a_damaged_state_decides_nothing(releases: Releases, text: str) -> None:
    releases.folder.mkdir()
    releases.file.write_text(text)
    with pytest.raises(BundleRejected):
        releases.state()


def test_a_failed_write_leaves_the_old_state(releases: Releases, tmp_path: Path) -> None:
    one = releases.archive.put(candidate(tmp_path / "a", 600)).digest
    releases.publish(one, replaced="", at_ms=1)
    kept = releases.state()
    shutil.rmtree(releases.archive.folder)
    with pytest.raises(BundleNotFound):
        releases.roll_back(one, replaced=one, at_ms=2)
    assert releases.state() == kept
    assert sorted(p.name for p in releases.folder.iterdir()) == ["state.json", "state.lock"]
