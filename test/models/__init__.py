"""ONNX models built in code: known architectures of any size, their weights drawn from a seed."""
