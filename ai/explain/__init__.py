"""Why a recorded request was decided as it was, candidate by candidate."""
