"""The only importer of GitPython."""
