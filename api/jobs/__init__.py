"""Jobs of ingest: what is sent in or named on this machine, taken in by one worker at a time, whatever ends."""
