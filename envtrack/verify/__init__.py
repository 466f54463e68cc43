"""The new user's way: a clean clone, an empty home, the documented set-up, the smoke test."""
