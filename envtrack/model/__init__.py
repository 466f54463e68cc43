"""Frozen values and pure functions; imports nothing but errors."""
