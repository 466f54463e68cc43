"""One module a rule of fit; `envtrack.compat.judge` lists them."""
