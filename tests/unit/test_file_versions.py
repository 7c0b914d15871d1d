"""The settings file, the corpus manifest, the policy manifest and the policy's state each name a version: the known ones
are read, a planted next one can be added beside the first, and any other is refused with a code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.errors import SettingsInvalid
from api.home import configuration
from api.home.configuration import load
from api.problems import code_of
from policy.bundles.bundle import SHIPPED, load_bundle
from policy.bundles.releases import Releases
from policy.errors import BundleRejected
from retrieval.errors import ManifestError
from retrieval.ingest import manifest
from retrieval.ingest.manifest import read_manifest

MANIFEST = """
[[source]]
path = "a.md"
source_id = "a"
title = "A"
license = "CC0-1.0"
"""
UNKNOWN = ("0", "2", "-1", "99", "true", '"1"', "1.0", "[1]", "{}")
unknown = pytest.mark.parametrize("version", UNKNOWN)
readable = pytest.mark.parametrize("line", ["", "version = 1\n"])


@readable
def test_settings_of_the_first_version(tmp_path: Path, line: str) -> None:
    (tmp_path / "exhibit.toml").write_text(f"{line}[retrieval]\nfusion_k = 61\n")
    assert load({}, home=tmp_path).settings.retrieval.fusion_k == 61


@unknown
def test_settings_of_an_unknown_version(tmp_path: Path, version: str) -> None:
    (tmp_path / "exhibit.toml").write_text(f"version = {version}\n[retrieval]\nfusion_k = 61\n")
    with pytest.raises(SettingsInvalid, match="version") as raised:
        load({}, home=tmp_path)
    assert code_of(raised.value) == "VALIDATION_FAILED"


def renamed(tree: dict[str, Any]) -> dict[str, Any]:
    """What a second version could be: a section under another name."""
    return {"retrieval" if name == "search" else name: value for name, value in tree.items()}


def test_settings_of_a_planted_second_version(tmp_path: Path) -> None:
    versions = {**configuration.VERSIONS, 2: renamed}
    for text in ("[retrieval]\nfusion_k = 61\n", "version = 2\n[search]\nfusion_k = 61\n"):
        (tmp_path / "exhibit.toml").write_text(text)
        assert load({}, home=tmp_path, versions=versions).settings.retrieval.fusion_k == 61


def test_the_version_is_the_files_alone(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="unknown setting"):
        load({"EXHIBIT_VERSION": "1"}, home=tmp_path)


@readable
def test_a_manifest_of_the_first_version(tmp_path: Path, line: str) -> None:
    (tmp_path / "manifest.toml").write_text(line + MANIFEST)
    assert [source.source_id for source in read_manifest(tmp_path / "manifest.toml").sources] == ["a"]


@unknown
def test_a_manifest_of_an_unknown_version(tmp_path: Path, version: str) -> None:
    (tmp_path / "manifest.toml").write_text(f"version = {version}\n{MANIFEST}")
    with pytest.raises(ManifestError, match="version") as raised:
        read_manifest(tmp_path / "manifest.toml")
    assert code_of(raised.value) == "VALIDATION_FAILED"


def test_a_manifest_of_a_planted_second_version(tmp_path: Path) -> None:
    def read(values: dict[str, Any]) -> dict[str, Any]:
        return {"source" if name == "document" else name: value for name, value in values.items()}

    (tmp_path / "manifest.toml").write_text("version = 2\n" + MANIFEST.replace("[[source]]", "[[document]]"))
    versions = {**manifest.VERSIONS, 2: read}
    assert [each.source_id for each in read_manifest(tmp_path / "manifest.toml", versions=versions).sources] == ["a"]


@pytest.mark.parametrize("version", [0, 2, True, "1", 1.0, None, [1], {}])
def test_a_policy_manifest_of_an_unknown_version(tmp_path: Path, version: object) -> None:
    for name in ("rego", "wasm"):
        shutil.copytree(SHIPPED / name, tmp_path / name)
    path = tmp_path / "wasm" / "manifest.json"
    document = json.loads(path.read_bytes())
    assert document.pop("version") == 1
    path.write_text(json.dumps(document))
    assert load_bundle(tmp_path).digest == load_bundle(SHIPPED).digest  # as versions before 0.2 wrote it
    path.write_text(json.dumps(document | {"version": version}))
    with pytest.raises(BundleRejected, match="version") as raised:
        load_bundle(tmp_path)
    assert code_of(raised.value) == "POLICY_UNAVAILABLE"


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.integers().filter(lambda n: n != 1), st.text(), st.none(), st.lists(st.integers())))
def test_a_policy_state_of_an_unknown_version(tmp_path: Path, version: object) -> None:
    state: dict[str, Any] = {"active": None, "shadow": None, "history": []}
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert Releases(tmp_path).state().active is None  # as versions before 0.2 wrote it
    (tmp_path / "state.json").write_text(json.dumps(state | {"version": version}))
    with pytest.raises(BundleRejected):
        Releases(tmp_path).state()
