"""What holds for every test: a property is not refuted by a busy machine."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("exhibit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("exhibit")
