"""Policy carried out: the scope, the evidence point with its obligations, the facts that are put to each point."""
