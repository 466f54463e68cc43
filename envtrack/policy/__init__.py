"""The rules of an upgrade policy: pure functions over what one commit does to one lockfile."""
