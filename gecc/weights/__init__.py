"""Constants and their bytes: the weight store, the attribute that names its entries, recipes, side files.

Importing this package loads no numpy.
"""

from gecc.weights.attribute import WeightAttr
from gecc.weights.dtypes import dtype_name, element_type, item_bytes, numpy_dtype
from gecc.weights.store import DENSE_LIMIT, ConstantAttr, WeightStore, store_of
from gecc.weights.transformations import Param, transformation

__all__ = [
    "DENSE_LIMIT",
    "ConstantAttr",
    "Param",
    "WeightAttr",
    "WeightStore",
    "dtype_name",
    "element_type",
    "item_bytes",
    "numpy_dtype",
    "store_of",
    "transformation",
]
