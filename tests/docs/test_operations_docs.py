"""The guide of operations says what the tests prove: its table is the one that they read, compose's services are those of
the guide, and nothing in them has a secret by default."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests.services.fault_matrix import MATRIX, table

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "operations.md").read_text("utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def test_the_table_is_the_matrix_of_the_tests() -> None:
    assert table() in GUIDE


def test_every_server_has_a_profile_of_its_own_and_is_in_all() -> None:
    for server in MATRIX:
        name = {"PostgreSQL": "postgres"}.get(server, server.lower())
        assert COMPOSE["services"][name]["profiles"] == [name, "all"], server
    assert COMPOSE["services"]["exhibit"]["profiles"] == ["all"]


def test_no_secret_has_a_default_and_no_port_leaves_loopback() -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    for name in ("POSTGRES_PASSWORD", "NEO4J_PASSWORD", "OPENSEARCH_PASSWORD", "OPA_TOKEN"):
        used = re.findall(r"\$\{" + name + r"([^}]*)\}", text)
        assert used, name
        assert all(rest.startswith(":?") for rest in used), name
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_images_are_pinned_and_ours_has_no_rights() -> None:
    for service in COMPOSE["services"].values():
        assert re.search(r":[\w.]*\d+\.\d+[\w.-]*$|:\d[\w.-]+$", service["image"]), service["image"]
    ours = COMPOSE["services"]["exhibit"]
    assert ours["read_only"] is True
    assert ours["cap_drop"] == ["ALL"]
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.search(r"^USER 10001:10001$", dockerfile, re.M)
    assert dockerfile.count("--require-hashes") == 2
