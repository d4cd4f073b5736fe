"""WHAT to run: definitions of benchmarks, search spaces, ingestion modes, instance facts and prices. Pure data."""
