"""Which element type operations compute in: what a user may ask for, read and checked.

`Precision` is all of it; the pass `ge-choose-precision` follows it and tells in a `PrecisionReport` what it did.
Needs the standard library only, and the ge dialect where names of operators are looked up.
"""

from gecc.precision.files import (
    Lists,
    mixlist_of,
    read_customize_dtypes,
    read_keep_dtype,
    read_modify_mixlist,
)
from gecc.precision.lists import BLACK, CUBE, FIXED, colour_of, operators_called
from gecc.precision.options import MODES, Custom, Mode, Precision, custom_of, find_mode
from gecc.precision.report import Clipped, Decision, PrecisionReport, PrecisionWarning, announce, listening

__all__ = [
    "BLACK",
    "CUBE",
    "FIXED",
    "MODES",
    "Clipped",
    "Custom",
    "Decision",
    "Lists",
    "Mode",
    "Precision",
    "PrecisionReport",
    "PrecisionWarning",
    "announce",
    "colour_of",
    "custom_of",
    "find_mode",
    "listening",
    "mixlist_of",
    "operators_called",
    "read_customize_dtypes",
    "read_keep_dtype",
    "read_modify_mixlist",
]
