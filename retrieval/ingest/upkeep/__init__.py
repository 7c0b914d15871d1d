"""The corpus after it was taken in: its channels, its life, its vectors, its suspects."""
