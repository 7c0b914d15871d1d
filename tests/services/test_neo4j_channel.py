"""What `tests/contracts/test_channel.py` asks, of a real Neo4j."""

from __future__ import annotations

import pytest

from tests.channel_backends import Opener
from tests.contracts.test_channel import *  # noqa: F403  the suite
from tests.contracts.test_shapes import *  # noqa: F403  the suite
from tests.contracts.test_traversal import *  # noqa: F403  the suite
from tests.services.neo4j_backend import opener_on
from tests.services.neo4j_server import Address, neo4j_server  # noqa: F401  a fixture

pytestmark = pytest.mark.services


@pytest.fixture
def opener(neo4j_server: Address) -> Opener:  # noqa: F811
    return opener_on(neo4j_server)
