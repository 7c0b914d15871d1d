"""The identity provider of the settings."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from api.errors import SettingsInvalid
from api.home.configuration import Configuration
from api.home.folder import ENDED_SESSIONS_FILE
from api.wiring.clock import clock_ms

if TYPE_CHECKING:
    from api.home.identity.oidc.tokens import TokenReader


def token_reader(configuration: Configuration) -> TokenReader | None:
    """The reader of callers' tokens; None where no identity provider is set. Raises SettingsInvalid."""
    from api.home.identity.oidc.ended_sessions import EndedSessions  # noqa: PLC0415  which only servers need
    from api.home.identity.oidc.signing_keys import SigningKeys, http_fetch  # noqa: PLC0415
    from api.home.identity.oidc.tokens import TokenReader  # noqa: PLC0415

    oidc = configuration.settings.server.oidc
    if oidc is None:
        return None
    try:
        keys = SigningKeys(oidc, fetch=http_fetch(oidc), clock=time.monotonic)
    except OSError:
        raise SettingsInvalid(f"server.oidc.ca_file: {oidc.ca_file} cannot be read") from None
    ended = EndedSessions(configuration.home / ENDED_SESSIONS_FILE, now_ms=clock_ms)
    return TokenReader(oidc, keys, ended, now_ms=clock_ms)
