"""The kernel blob of an om: the dispatcher and all kernels, from IR text to one linked image."""

from __future__ import annotations

from collections.abc import Sequence

from gecc.codegen import dispatcher
from gecc.codegen.cache import ObjectCache
from gecc.codegen.link import Blob, link
from gecc.codegen.object import USER_CACHE, compile_ir
from gecc.target import Target


def build(kernels: Sequence[str], target: Target, *, cache: ObjectCache | None = USER_CACHE) -> Blob:
    """Compile and link the dispatcher and `kernels`, each the LLVM IR text of one module, in that order.

    Raises CodegenError when a text is refused or the image would need a symbol from outside.
    """
    return link(compile_ir([*dispatcher.modules(target), *kernels], target, cache=cache))
