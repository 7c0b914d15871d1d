"""The decisions of another policy bundle on the requests that the ledger holds."""
