"""Bounds on the work that strangers can cause: connections, rates, requests at one time, the time of each."""
