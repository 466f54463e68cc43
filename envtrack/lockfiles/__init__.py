"""Text of a lockfile to a Lock; pure."""
