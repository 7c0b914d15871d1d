"""Text to records: passages, observations, features, events and links."""
