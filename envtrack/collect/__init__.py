"""This machine to facts."""
