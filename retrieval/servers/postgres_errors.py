"""Exceptions of PostgreSQL's driver as errors of the channel that asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from retrieval.errors import ChannelFault, ChannelTimeout, ChannelUnavailable
from retrieval.model import ChannelName


@contextmanager
def as_channel_errors(channel: ChannelName) -> Iterator[None]:
    """The server's errors as the channel's, without a word of the server's own."""
    store = f"the {channel.name.lower()} store"
    try:
        yield
    except errors.QueryCanceled as error:
        raise ChannelTimeout(channel, f"{store} took too long") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise ChannelUnavailable(channel, f"{store} cannot be reached") from error
    except psycopg.Error as error:
        raise ChannelFault(channel, f"{store} refused the statement") from error
