"""Running om files: numpy, protobuf and the standard library, and nothing of the compiler."""
