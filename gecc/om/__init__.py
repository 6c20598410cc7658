"""The om file: records, the Ascend container, a deterministic writer, and a reader that trusts nothing."""
