"""A channel, a channel behind a circuit breaker, and asking all of them at once."""
