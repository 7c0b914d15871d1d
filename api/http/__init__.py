"""The HTTP API: the application, its middleware and its routes."""
