"""Benchmarks of the policy points."""
