"""The log on PostgreSQL."""
