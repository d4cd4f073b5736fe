"""multi-model-server, AWS's own for the containers of its frameworks: a frontend in Java, a process of Python for each model."""
