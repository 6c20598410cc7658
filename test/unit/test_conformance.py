"""A fixed sample of 200 of the cases that onnx ships for backends; `make conformance` runs them all."""

from __future__ import annotations

import os
import signal
from functools import cache
from pathlib import Path

import pytest
from onnx.backend.test.case.test_case import TestCase

from test.conformance import __main__ as command
from test.conformance import run
from test.conformance.cases import Case, collect

SAMPLE = (Path(run.__file__).parent / "sample.txt").read_text().split()

ON_HOST = {
    *("test_ai_onnx_ml_label_encoder_string_int", "test_compress_0", "test_if_seq", "test_loop13_seq"),
    *("test_nonmaxsuppression_two_classes", "test_nonzero_example", "test_optional_get_element_tensor"),
    *("test_split_to_sequence_1", "test_string_concat", "test_tfidfvectorizer_tf_onlybigrams_levelempty"),
    "test_unique_sorted_with_axis",
}
"""Cases of strings, sequences, optionals and shapes that depend on data; all others are kernels throughout."""


@cache
def cases() -> dict[str, Case]:
    return {case.name: case for case in collect(["node", "simple", "pytorch-converted", "pytorch-operator"])}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SAMPLE)
def test_case(name: str) -> None:
    assert run.run_case(cases()[name])[0] == ("host" if name in ON_HOST else "pass")


def made_up(name: str) -> Case:
    return Case("node", name, TestCase(name, name, None, None, None, None, "node", 1e-3, 1e-7))


def behave(case: Case, no_host: bool) -> tuple[str, str]:
    """What stands in for a case: its name says what happens."""
    if case.name == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if case.name == "hangs":
        signal.pause()
    return (
        ("unsupported", f"UnsupportedError: no {case.name} 'n1' (node 1, opset 9)")
        if case.name == "odd"
        else ("pass", "")
    )


def test_a_case_that_dies_or_hangs_is_a_result_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_case", behave)
    names = ["one", "dies", "two", "hangs", "odd", "three"]
    outcomes = list(run.run_all([made_up(n) for n in names], jobs=2, timeout=2.0))
    statuses = {o.case.name: o.status for o in outcomes}
    expected = {
        "one": "pass",
        "two": "pass",
        "three": "pass",
        "dies": "crash",
        "hangs": "timeout",
        "odd": "unsupported",
    }
    assert statuses == expected
    text = command.report(outcomes)
    assert "crash node dies: the process ended with -9" in text
    assert "no odd  (odd)" in text


def test_a_wrong_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases()["test_add"]
    model, [(inputs, (expected,))] = case.load()
    monkeypatch.setattr(Case, "load", lambda self: (model, [(inputs, [expected + 1])]))
    status, message = run.run_case(case)
    assert status == "wrong" and "Not equal to tolerance" in message
