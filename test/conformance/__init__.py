"""The cases that ONNX ships for backends, run through `gecc.backend`: `python -m test.conformance`."""
