"""The state of one question, and the limits that it runs under."""
