"""Looking into om files: what they hold, how two of them differ, their machine code."""
