"""Whether the layers of a stack fit together: pure rules over facts and tables."""
