"""The report: one HTML file that needs no other."""
