"""What another policy bundle would have decided on the requests that the ledger holds."""
