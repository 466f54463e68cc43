"""One trial: an environment put in place, the smoke test run, a verdict."""
