"""The deed that a question asks about: its clause, the doer, and to whom it is done."""
