"""Who asks: API keys, tokens of an identity provider, the local command line, and tenants."""
