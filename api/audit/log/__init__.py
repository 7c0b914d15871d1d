"""The log as a whole: its health, a search through it, a month of it as a report."""
