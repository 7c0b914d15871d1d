"""The guide of operations says what the tests prove: its table is the one that they read, compose's services are those of
the guide, and nothing in them has a secret by default."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from tests.services.fault_matrix import FAULTS, MATRIX, between, table

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "operations.md").read_text("utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def test_the_table_is_the_matrix_of_the_tests() -> None:
    assert between(GUIDE, "outcomes")[0].count("|---") == len(MATRIX) + 1
    assert f"-->\n{table()}\n<!-- end" in between(GUIDE, "outcomes")[0]


def test_every_cell_has_been_measured() -> None:
    rows = between(GUIDE, "figures")[0].split("\n")[3:-1]
    assert [row.split(" | ")[0] for row in rows] == [f"| {told}" for told in FAULTS.values()]
    for fault, row in zip(FAULTS, rows, strict=True):
        cells = row.strip("| ").split(" | ")[1:]
        for (name, tolls), cell in zip(MATRIX.items(), cells, strict=True):
            figure = r"(\*\*)?\d+\.\d\d(\*\*)? / \d+\.\d" if tolls[fault].starts else "-"
            assert re.fullmatch(figure, cell), (name, fault, cell)


def test_every_server_has_a_profile_of_its_own_and_is_in_all() -> None:
    for server in MATRIX:
        name = {"PostgreSQL": "postgres", "the log's PostgreSQL": "postgres"}.get(server, server.lower())
        assert COMPOSE["services"][name]["profiles"] == [name, "all"], server
    assert COMPOSE["services"]["exhibit"]["profiles"] == ["all"]


def test_no_secret_has_a_default_and_no_port_leaves_loopback() -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    for name in (
        "POSTGRES_SUPERUSER_PASSWORD",
        "POSTGRES_PASSWORD",
        "NEO4J_PASSWORD",
        "OPENSEARCH_PASSWORD",
        "OPA_TOKEN",
    ):
        used = re.findall(r"\$\{" + name + r"([^}]*)\}", text)
        assert used, name
        assert all(rest.startswith(":?") for rest in used), name
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_every_service_has_a_health_check_and_exhibit_waits_for_its_stores_and_policy() -> None:
    for name, service in COMPOSE["services"].items():
        assert "healthcheck" in service or name == "exhibit", name  # ours is in its image
    assert re.search(r"^HEALTHCHECK ", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
    waited = COMPOSE["services"]["exhibit"]["depends_on"]
    assert waited == {name: {"condition": "service_healthy"} for name in ("postgres", "neo4j", "opensearch", "opa")}


def test_images_are_pinned_and_ours_has_no_rights() -> None:
    for service in COMPOSE["services"].values():
        assert re.search(r":[\w.]*\d+\.\d+[\w.-]*$|:\d[\w.-]+$", service["image"]), service["image"]
    ours = COMPOSE["services"]["exhibit"]
    assert ours["read_only"] is True
    assert ours["cap_drop"] == ["ALL"]
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.search(r"^USER 10001:10001$", dockerfile, re.M)
    assert dockerfile.count("--require-hashes") == 2


def test_compose_env_makes_every_secret_once_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    script = shutil.copy2(ROOT / "deploy" / "compose-env.sh", tmp_path / "deploy")
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    written = []
    for _ in range(2):  # what is there is kept
        subprocess.run([script], env=environment, check=True, capture_output=True)
        written.append((tmp_path / ".env").read_text("utf-8"))
    assert written[0] == written[1]
    (tmp_path / ".env").write_text(
        "OPA_TOKEN=ours\nEXHIBIT_PORT=9000\n"
    )  # of an earlier version: what it lacks is added
    subprocess.run([script], env=environment, check=True, capture_output=True)
    added = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text("utf-8").splitlines())
    assert (added["OPA_TOKEN"], added["EXHIBIT_PORT"]) == ("ours", "9000")
    assert "POSTGRES_PASSWORD" in added
    secrets = dict(line.split("=", 1) for line in written[0].splitlines())
    wanted = set(re.findall(r"\$\{(\w+):\?", (ROOT / "compose.yaml").read_text("utf-8")))
    assert set(secrets) == wanted
    assert len(set(secrets.values())) == len(secrets)
    assert min(map(len, secrets.values())) >= 48
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".compose" / "bundle.tar.gz").stat().st_size > 0
