"""Witnesses (c2sp.org/tlog-witness): asking them to cosign, and being one."""
