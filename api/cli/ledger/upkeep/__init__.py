"""Commands for whoever keeps the log: keys, checkpoints, witnesses, exports and erasures."""
