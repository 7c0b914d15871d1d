"""Proofs that leave the log: receipts, promises and exports, and their verification without it."""
