"""A log to its errors, and each error to the layer that failed; pure."""
