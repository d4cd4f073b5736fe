"""The front: what stands before a server of models as SageMaker does, `python -m backends.serving.front --settings FILE`."""
