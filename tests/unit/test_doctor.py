"""Which looks of `exhibit doctor` may be given up: those that ask a server, never one at an embedded part."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import pytest

from api.cli.doctor import _LOOKS, _home, patience_of
from api.home.configuration import load
from api.home.encryption.vault import make_vault

SERVERS = {
    "NEO4J_URI": ("bolt://127.0.0.1:1", {"corpus"}),
    "POSTGIS_DSN": ("postgresql://me@127.0.0.1:1/x", {"corpus", "contents", "erasures"}),
    "OPENSEARCH_URL": ("http://127.0.0.1:1", {"corpus"}),
    "OPA_URL": ("http://127.0.0.1:1", set[str]()),
    "EXHIBIT_LEDGER__DSN": ("postgresql://me@127.0.0.1:1/x", {"ledger", "erasures"}),
    "FOCUS_MODE_MODEL": ("tiny", {"model"}),
    "FOCUS_MODE_EMBED_MODEL": ("tiny", {"corpus", "embedder"}),
}
SETS = [set(each) for each in chain.from_iterable(combinations(SERVERS, n) for n in range(len(SERVERS) + 1))]


@pytest.mark.parametrize("named", SETS, ids=lambda named: "+".join(sorted(named)) or "none")
def test_only_a_look_that_asks_a_server_is_given_up(named: set[str], tmp_path: Path) -> None:
    configured = load({name: SERVERS[name][0] for name in named}, home=tmp_path)
    served = set().union(*(SERVERS[name][1] for name in named))
    given_up = {look for look in (*_LOOKS, "repair") if patience_of(look, configured, down=True) is not None}
    assert given_up == served
    unasked = {look for look in _LOOKS if patience_of(look, configured, down=False) is not None}
    assert unasked == served & {"model", "embedder"}


PLAIN_ON = {"POSTGIS_DSN": "PostgreSQL", "OPENSEARCH_URL": "OpenSearch", "NEO4J_URI": "Neo4j"}


@pytest.mark.parametrize("named", SETS, ids=lambda named: "+".join(sorted(named)) or "none")
async def test_an_encrypted_home_says_which_servers_hold_its_documents_as_they_are(
    named: set[str], tmp_path: Path
) -> None:
    make_vault(tmp_path / "home", bytes(32))
    environment = {name: SERVERS[name][0] for name in named} | {"EXHIBIT_ENCRYPTION__KEY": bytes(32).hex()}
    [found] = [each async for each in _home(load(environment, home=tmp_path / "home")) if each.name == "encryption"]
    plain = [told for name, told in PLAIN_ON.items() if name in named]
    assert found.state == ("warning" if plain else "ok")
    assert [told for told in PLAIN_ON.values() if told in found.detail] == plain


async def test_a_home_that_is_not_encrypted_does_not_say_so(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    assert "encryption" not in [each.name async for each in _home(load({}, home=tmp_path / "home"))]
