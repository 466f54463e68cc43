"""A change of several layers turned into a series of commits that move one layer each."""
