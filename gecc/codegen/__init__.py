"""From LLVM IR text to one position-independent image of machine code, and the dispatcher that runs it."""
