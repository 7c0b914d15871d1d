"""Everything that somebody might plant in a policy bundle to open it: one catalogue, and a whole publication of each."""
