"""The parts of ledger entries, built from values of the pipeline."""
