"""The entry index: finding entries by what is known of them beside their leaves."""
