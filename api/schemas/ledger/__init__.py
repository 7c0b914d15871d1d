"""Wire formats of the ledger's routes."""
