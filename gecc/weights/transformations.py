"""Named transformations: how the bytes of a recipe follow from the bytes of its sources.

A pass that repacks or folds a weight does not compute; it writes down *what* is to be computed. The name and the
parameters are part of the recipe's digest, so a transformation must always give the same bytes for the same
arguments. Whoever changes what a transformation means gives it a new name.

```python
@transformation("scale-rows")
def scale_rows(sources: Sequence[np.ndarray], params: Mapping[str, Param]) -> np.ndarray:
    weight, factor = sources
    return weight * factor[:, None]
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np

Param: TypeAlias = "bool | int | float | str | Sequence[Param]"
Transformation: TypeAlias = "Callable[[Sequence[np.ndarray], Mapping[str, Param]], np.ndarray]"

_REGISTRY: dict[str, Transformation] = {}


def transformation(name: str) -> Callable[[Transformation], Transformation]:
    """Register a function under `name`. Raises ValueError when another function has the name already."""

    def register(function: Transformation) -> Transformation:
        known = _REGISTRY.get(name)
        if known is not None and known.__qualname__ != function.__qualname__:
            raise ValueError(f"transformation '{name}' is taken by {known.__module__}.{known.__qualname__}")
        _REGISTRY[name] = function
        return function

    return register


def lookup(name: str) -> Transformation:
    """The transformation called `name`. Raises KeyError naming those that are known."""
    try:
        return _REGISTRY[name]
    except KeyError:
        known = ", ".join(sorted(_REGISTRY)) or "none"
        raise KeyError(f"no weight transformation is called '{name}'; known: {known}") from None


@transformation("transpose")
def _transpose(sources: Sequence[np.ndarray], params: Mapping[str, Param]) -> np.ndarray:
    """`perm`: the dimension of the source that becomes dimension i."""
    perm = params["perm"]
    if not isinstance(perm, Sequence):
        raise TypeError(f"transpose: perm must be a list of dimensions, found {perm!r}")
    return sources[0].transpose([int(p) for p in perm if isinstance(p, int)])


@transformation("cast")
def _cast(sources: Sequence[np.ndarray], params: Mapping[str, Param]) -> np.ndarray:
    """`dtype`: name of the numpy dtype of the result; values round to the nearest."""
    from gecc.weights.dtypes import element_type, numpy_dtype

    return sources[0].astype(numpy_dtype(element_type(str(params["dtype"]))))
