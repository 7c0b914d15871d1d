"""Connections to servers: PostgreSQL, Ollama, and the breaker in front of them."""
