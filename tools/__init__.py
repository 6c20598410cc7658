"""Command-line tools: argument parsing and printing. Import as `gecc.tools`: gecc/tools is a link to here."""

import os

if __name__ != "gecc.tools":  # found through the working directory: every class would exist twice
    raise ImportError("import gecc.tools, not tools")
__path__ = [os.path.realpath(p) for p in __path__]  # debuggers and coverage then show tools/
