"""Chat models behind one Protocol, and the prompt that they read."""
