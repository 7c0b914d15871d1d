"""From phrases to a plan: sets, things and the operation over them."""
