"""Benchmarks of the ledger."""
