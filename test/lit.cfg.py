"""Configuration of the lit suite; run `lit test` with the Python that has gecc installed."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

# loaded once here, so that the workers, which are forks, need not
import filecheck.matcher  # noqa: E402, F401
import xdsl.dialects.func  # noqa: E402, F401

import gecc.tools.opt_driver  # noqa: E402, F401
from test.lit_format import InProcess  # noqa: E402

suite = globals()["config"]  # defined by lit
suite.name = "gecc"
suite.test_format = InProcess()
suite.suffixes = [".mlir"]
suite.excludes = ["unit"]
suite.test_source_root = str(HERE)
suite.test_exec_root = str(HERE / "Output")
suite.environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
suite.substitutions = [
    (rf"\b{name}\b", f"{sys.executable} -m {module}")
    for name, module in (
        ("gecc-opt", "gecc.tools.gecc_opt"),
        ("gecc-translate", "gecc.tools.gecc_translate"),
        ("gecc-run", "gecc.tools.gecc_run"),
        ("filecheck", "filecheck"),
    )
]
