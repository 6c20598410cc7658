"""Image preprocessing as part of a model: the configuration that atc's --insert_op_conf names, read and checked.

Needs protobuf alone. The pass `ge-insert-aipp` makes operators of it.
"""

from gecc.aipp.config import Aipp, Channel, Csc, aipp_of, read_aipp
from gecc.aipp.formats import FORMATS, Format

__all__ = ["FORMATS", "Aipp", "Channel", "Csc", "Format", "aipp_of", "read_aipp"]
