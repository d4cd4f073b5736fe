"""Our own server: ONNX Runtime sessions in one process, behind KServe's protocol v2."""
