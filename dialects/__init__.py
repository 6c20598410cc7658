"""The IRs, one file or package per dialect. Import as `gecc.dialects`: gecc/dialects is a link to here."""

import os

if __name__ != "gecc.dialects":  # found through the working directory: every class would exist twice
    raise ImportError("import gecc.dialects, not dialects")
__path__ = [os.path.realpath(p) for p in __path__]  # debuggers and coverage then show dialects/
