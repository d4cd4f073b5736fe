"""Proposes a benchmark definition for a script: what it is told, where its metrics are, as commented YAML."""
