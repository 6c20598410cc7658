"""gecc: a neural-network compiler from ONNX to planned-memory programs of native tiled kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gecc.api import Model, compile, load
    from gecc.gears import batch_gears, dims_gears, image_gears
    from gecc.runtime.custom import custom_op
    from gecc.runtime.executor import Executor

__all__ = [
    "Executor",
    "Model",
    "__version__",
    "batch_gears",
    "compile",
    "custom_op",
    "dims_gears",
    "image_gears",
    "load",
]

_HOME = {
    "Model": "gecc.api",
    "compile": "gecc.api",
    "load": "gecc.api",
    "batch_gears": "gecc.gears",
    "dims_gears": "gecc.gears",
    "image_gears": "gecc.gears",
    "Executor": "gecc.runtime.executor",
    "custom_op": "gecc.runtime.custom",
}


def __getattr__(name: str) -> object:
    """Import public names on first use, so that `import gecc` alone loads nothing heavy."""
    if name not in _HOME:
        raise AttributeError(f"module 'gecc' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
