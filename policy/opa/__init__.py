"""An OPA server: its decisions, and the management beside them."""
