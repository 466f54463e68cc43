"""Pure searches for the culprit: over commits, change sets and releases."""
