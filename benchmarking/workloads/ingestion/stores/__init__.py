"""Where objects lie: one module a store, each with `names` and `open`."""
