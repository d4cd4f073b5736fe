"""Triton Inference Server out of the wheel nvidia-pytriton, whose one back-end, Python, runs ONNX and TorchScript."""
