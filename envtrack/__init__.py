"""envtrack: what changed in the environment, and which change broke it."""

__version__ = "0.1.0"
