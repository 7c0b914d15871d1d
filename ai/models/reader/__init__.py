"""The reader: a small trained network that tells which sentences answer a question."""
