"""YAML to models, with file and line."""
