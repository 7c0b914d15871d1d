"""The sentence beside it says otherwise: of the thing itself, of what is only believed, of what is left out."""
