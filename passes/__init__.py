"""Passes, one file each, in a folder per level. Import as `gecc.passes`: gecc/passes is a link to here."""

import os

if __name__ != "gecc.passes":  # found through the working directory: every class would exist twice
    raise ImportError("import gecc.passes, not passes")
__path__ = [os.path.realpath(p) for p in __path__]  # debuggers and coverage then show passes/
