"""Policy in a running server: a published bundle comes into force, and a candidate is tried."""
