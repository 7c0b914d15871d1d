"""The Merkle tree of the log, and its tiles."""
