"""Servers of models on this machine behind one interface, and the front that routes to them as SageMaker's multi-model endpoints do."""
