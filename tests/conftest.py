"""What holds for every test: a property is not refuted by a busy machine, and a test leaves no file mode to the next."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# CI gives one commit one verdict: there the examples follow from the test, everywhere else they are new in each run.
settings.register_profile(
    "exhibit", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("exhibit")


@pytest.fixture(autouse=True, scope="module")
def _own_umask() -> Iterator[None]:
    """A process that opens a home closes all that it writes from then on."""
    before = os.umask(0o022)
    yield
    os.umask(before)
