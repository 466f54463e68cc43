"""Two records to their differences; pure."""
