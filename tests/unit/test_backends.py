"""Servers that this version does not speak to are refused by name, never replaced in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.configuration import load
from api.errors import BackendNotBuilt
from api.wiring import open_indexes, open_system


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("NEO4J_URI", "neo4j://graph"),
        ("POSTGIS_DSN", "postgresql://db/x"),
        ("OPENSEARCH_URL", "https://search"),
        ("OPA_URL", "http://opa"),
        ("FOCUS_MODE_EMBED_MODEL", "all-minilm"),
    ],
)
async def test_a_named_server_is_refused(tmp_path: Path, variable: str, value: str) -> None:
    configuration = load({variable: value}, home=tmp_path)
    with pytest.raises(BackendNotBuilt, match=variable):
        async with open_system(configuration, empty=True):
            pass
    if variable != "OPA_URL":
        with pytest.raises(BackendNotBuilt, match=variable):
            async with open_indexes(configuration):
                pass
