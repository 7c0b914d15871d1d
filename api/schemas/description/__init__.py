"""The description of the API for generators of clients."""
