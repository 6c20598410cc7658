"""The lit format of this suite: gecc-opt and filecheck are called in lit's workers, the rest goes to lit's shell."""

from __future__ import annotations

from typing import Any

import lit.Test
import lit.TestRunner
from lit.formats import ShTest

from test.inprocess import NotUnderstood, run_script


class InProcess(ShTest):
    """ShTest that runs what `test.inprocess` understands without processes."""

    def execute(self, test: Any, litConfig: Any) -> Any:
        """Run one test; see `lit.formats.ShTest.execute`."""
        if test.config.unsupported:
            return lit.Test.Result(lit.Test.UNSUPPORTED, "test is unsupported")
        script = lit.TestRunner.parseIntegratedTestScript(test)
        if isinstance(script, lit.Test.Result):
            return script
        if litConfig.noExecute:
            return lit.Test.Result(lit.Test.PASS)
        substitutions = lit.TestRunner.getDefaultSubstitutions(test, *lit.TestRunner.getTempPaths(test))
        # commands keep their names here; the rewriting into `python -m ...` is for processes
        substitutions = [pair for pair in substitutions if pair not in test.config.substitutions]
        lines = lit.TestRunner.applySubstitutions(script, substitutions)
        commands = [_without_debug_prefix(line) for line in lines]
        try:
            outcome = run_script(commands)
        except NotUnderstood:
            # parsed a second time there, which may not double its lists of requirements
            test.requires, test.unsupported, test.xfails = [], [], []
            return super().execute(test, litConfig)
        if outcome.code:
            return lit.Test.Result(lit.Test.FAIL, f"exit code {outcome.code}\n{outcome.err}\n{outcome.out}")
        return lit.Test.Result(lit.Test.PASS, "")


def _without_debug_prefix(line: str) -> str:
    """Take off the `%dbg(RUN: at line 1)` that lit puts before each line."""
    return line.split(")", 1)[1].strip() if line.startswith("%dbg(") else line
