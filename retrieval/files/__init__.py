"""Files that are kept: durable, sealed, databases, and what is not written yet."""
