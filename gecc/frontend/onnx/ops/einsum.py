"""Einsum as transpositions, sums and matrix products, one operand after the other.

bhwc,hkc->bhwk:  batch h, rows bw, columns k, summed over c
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import rank, shape
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.registry import onnx_op

Labels = tuple[str, ...]
"""A name for each dimension: a letter, or `.0`, `.1`... (counted from the last) for those under an ellipsis."""


@onnx_op("Einsum", since=12)
def einsum(n: Node) -> SSAValue:
    """Products of all operands, summed over the letters that the result does not name."""
    operands = n.given()
    if any(-1 in shape(x) for x in operands):
        n.refuse("Einsum needs known shapes", hint="give input shapes")
    terms, result = parse(n, n.attr_str("equation"), [rank(x) for x in operands])
    factors = [_diagonal(n, x, labels) for x, labels in zip(operands, terms, strict=True)]
    _check_sizes(n, factors)
    value, labels = factors[0]
    for i, (other, theirs) in enumerate(factors[1:], 1):
        kept = {*result, *(label for _, later in factors[i + 1 :] for label in later)}
        value, labels = _product(n, (value, labels), (other, theirs), kept)
    value, labels = _summed(n, value, labels, set(result))
    missing = [label for label in result if label not in labels]
    if missing:
        n.invalid(f"the result names {missing}, which no operand has")
    return n.build.transpose(value, [labels.index(label) for label in result])


def parse(n: Node, equation: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """The labels of each operand and of the result; invalid when they do not fit the operands."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    spelled = left.split(",")
    if len(spelled) != len(ranks):
        n.invalid(f"equation '{equation}' has {len(spelled)} terms, but there are {len(ranks)} operands")
    terms = [_labels(n, term, dims) for term, dims in zip(spelled, ranks, strict=True)]
    hidden = max((sum(label[0] == "." for label in term) for term in terms), default=0)
    ellipsis = tuple(f".{i}" for i in reversed(range(hidden)))
    if arrow:
        head, dots, tail = right.partition("...")
        result = (*head, *(ellipsis if dots else ()), *tail)
    else:
        letters = left.replace("...", "").replace(",", "")
        result = (*ellipsis, *sorted(c for c in set(letters) if letters.count(c) == 1))
    if len(set(result)) != len(result) or not all(label[0] == "." or label.isalpha() for label in result):
        n.invalid(f"the result of equation '{equation}' must name letters, each once")
    return terms, result


def _labels(n: Node, term: str, dims: int) -> Labels:
    head, dots, tail = term.partition("...")
    hidden = dims - len(head) - len(tail)
    if hidden < 0 or (hidden and not dots) or (not (head + tail).isalpha() and head + tail):
        n.invalid(f"term '{term}' of the equation does not fit an operand of rank {dims}")
    return (*head, *(f".{i}" for i in reversed(range(hidden))), *tail)


def _diagonal(n: Node, x: SSAValue, labels: Labels) -> tuple[SSAValue, Labels]:
    """The operand with every label once: a repeated one is a diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            size = shape(x)[first]
            if shape(x)[second] != size:
                n.invalid(f"label {label} names dimensions of {size} and {shape(x)[second]} in one operand")
            rest = [i for i in range(rank(x)) if i not in (first, second)]
            x = n.build.transpose(x, [first, second, *rest])
            places = n.build.const(np.repeat(np.arange(size, dtype=np.int64)[:, None], 2, axis=1))
            x = n.add(ge.GatherND(x, places, batch_dims=0))
            labels = (label, *(labels[i] for i in rest))
    return x, labels


def _check_sizes(n: Node, terms: Sequence[tuple[SSAValue, Labels]]) -> None:
    sizes: dict[str, int] = {}
    for x, labels in terms:
        for label, size in zip(labels, shape(x), strict=True):
            known = sizes.setdefault(label, size)
            if size != known and 1 not in (size, known):
                n.invalid(f"label {label} names dimensions of {known} and {size}")
            sizes[label] = max(known, size) if 0 not in (known, size) else 0


def _summed(n: Node, x: SSAValue, labels: Labels, kept: set[str]) -> tuple[SSAValue, Labels]:
    """Sums over the labels that nobody else needs."""
    axes = [i for i, label in enumerate(labels) if label not in kept]
    if not axes:
        return x, labels
    return n.add(ge.ReduceSum(x, axes, keep_dims=False)), tuple(label for label in labels if label in kept)


def _product(
    n: Node, left: tuple[SSAValue, Labels], right: tuple[SSAValue, Labels], kept: set[str]
) -> tuple[SSAValue, Labels]:
    """The product of two operands, summed over what only they have: [batch, rows, sum] x [batch, sum, columns]."""
    x, xs = _summed(n, *left, kept | set(right[1]))
    y, ys = _summed(n, *right, kept | set(xs))
    of_x, of_y = dict(zip(xs, shape(x), strict=True)), dict(zip(ys, shape(y), strict=True))
    shared = [label for label in xs if label in of_y]
    if any(of_x[label] != of_y[label] for label in shared):  # a dimension of one broadcasts
        return _broadcast(n, (x, xs), (y, ys), kept)
    batch = [label for label in shared if label in kept]
    inner = [label for label in shared if label not in kept]
    rows, columns = ([label for label in labels if label not in shared] for labels in (xs, ys))
    if not inner:
        return _broadcast(n, (x, xs), (y, ys), kept)
    sizes = {**of_x, **of_y}

    def matrix(value: SSAValue, labels: Labels, first: list[str], second: list[str]) -> SSAValue:
        moved = n.build.transpose(value, [labels.index(label) for label in (*batch, *first, *second)])
        flat = [prod(sizes[label] for label in group) for group in (first, second)]
        return n.build.reshape(moved, [*(sizes[label] for label in batch), *flat])

    product = n.add(ge.MatMulV2(matrix(x, xs, rows, inner), matrix(y, ys, inner, columns)))
    labels = (*batch, *rows, *columns)
    return n.build.reshape(product, [sizes[label] for label in labels]), labels


def _broadcast(
    n: Node, left: tuple[SSAValue, Labels], right: tuple[SSAValue, Labels], kept: set[str]
) -> tuple[SSAValue, Labels]:
    """The product element by element, then sums."""
    labels = (*left[1], *(label for label in right[1] if label not in left[1]))

    def spread(value: SSAValue, own: Labels) -> SSAValue:
        order = [label for label in labels if label in own]
        moved = n.build.transpose(value, [own.index(label) for label in order])
        return n.build.unsqueeze(moved, [i for i, label in enumerate(labels) if label not in own])

    return _summed(n, n.add(ge.Mul(spread(*left), spread(*right))), labels, kept)
