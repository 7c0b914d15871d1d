"""The identity of callers: API keys, tokens of an identity provider, the local command line, and tenants."""
