"""Ledger entries for those who may read them: records, decisions, comparison, replay, export."""
