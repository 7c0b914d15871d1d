"""Signed notes: checkpoints, cosignatures, and whom a verifier trusts."""
