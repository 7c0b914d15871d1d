"""Changes of keys, sources and tenants, each on the ledger."""
