"""Assets of the registry (requirement 004): sources as readers list them, the entities that they name and the
relationships that they state."""
