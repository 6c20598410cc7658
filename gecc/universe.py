"""gecc's dialects, passes and frontend for xDSL's own tools (`xdsl-opt`, `xdsl-gui`), by the entry point `xdsl.universe`."""

from __future__ import annotations

from xdsl.universe import Universe
from xdsl.utils.frontend import Frontend

from gecc.context import dialect_factories
from gecc.passes import all_passes

OWN_DIALECTS = ("ge", "fused", "tile", "om")


def _onnx() -> type[Frontend]:
    from gecc.frontend.onnx import OnnxFrontend

    return OnnxFrontend


GECC = Universe(
    all_dialects={name: factory for name, factory in dialect_factories().items() if name in OWN_DIALECTS},
    all_passes=all_passes(),
    all_frontends={"onnx": _onnx},
)
