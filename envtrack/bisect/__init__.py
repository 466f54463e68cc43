"""The session that finds the guilty commit."""
