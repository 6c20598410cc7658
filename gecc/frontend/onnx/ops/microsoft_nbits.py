"""Products of com.microsoft with weights of a few bits, packed in bytes.

Meanings: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md. The weights are unpacked by
operations on integers. Constant ones are so when the model is compiled: the file then holds them as floats, which is
as fast as any float product and takes up to eight times the bytes.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from gecc.dialects import ge
from gecc.frontend.onnx.builder import element, rank, shape
from gecc.frontend.onnx.narrow import NARROW
from gecc.frontend.onnx.node import Node
from gecc.frontend.onnx.ops.narrow import decode
from gecc.frontend.onnx.ops.quant import UI8
from gecc.frontend.onnx.registry import onnx_op

DOMAIN = "com.microsoft"


def unpacked(n: Node, x: SSAValue, bits: int) -> SSAValue:
    """Bytes as 8 / bits numbers each, the one in the lowest bits first, along the last dimension."""
    if bits == 8:
        return x
    mask = n.build.scalar(2**bits - 1, x)
    parts: list[SSAValue] = []
    for shift in range(0, 8, bits):
        part = n.add(ge.BitShift(x, n.build.scalar(shift, x), direction="RIGHT")) if shift else x
        part = n.add(ge.BitwiseAnd(part, mask)) if shift + bits < 8 else part
        parts.append(n.build.unsqueeze(part, [rank(x)]))
    both = n.add(ge.Concat(parts, axis=rank(x)))
    dims = shape(x)
    if -1 in dims:
        n.refuse(f"packed numbers of unknown shape {list(dims)} are not supported", hint="give input shapes")
    return n.build.reshape(both, [*dims[:-1], dims[-1] * (8 // bits)])


def _first(n: Node, x: SSAValue, count: int) -> SSAValue:
    """The first `count` elements of the last dimension."""
    axis = rank(x) - 1
    return x if shape(x)[axis] == count else n.add(ge.Slice(x, [0], [count], [axis]))


@onnx_op("MatMulNBits", domain=DOMAIN)
def matmul_nbits(n: Node) -> SSAValue:
    """Inputs: A [..., K], B [N, blocks, bytes], scales [N, blocks], zero_points?, g_idx? [K], bias? [N].

    A number b of B stands for (b - zero point) * scale, both of its block, or of block g_idx[k] for all of column k.
    """
    a, bits, block = n.input(0), n.attr_int("bits", 4), n.attr_int("block_size")
    k, columns = n.attr_int("K"), n.attr_int("N")
    if bits not in (2, 4, 8):
        n.refuse(f"bits = {bits} is not supported, expected 2, 4 or 8")
    if n.attr_int("weight_prepacked", 0):
        n.refuse("weight_prepacked is not supported: it is a layout of one device")
    if block < 1 or k < 1 or columns < 1:
        n.invalid(f"block_size is {block}, K is {k}, N is {columns}, expected 1 or more")
    blocks = -(-k // block)
    if shape(n.input(1)) != (columns, blocks, block * bits // 8):
        n.invalid(f"B has shape {list(shape(n.input(1)))}, expected {[columns, blocks, block * bits // 8]}")
    groups = n.optional(4)
    weights = n.build.cast(unpacked(n, n.input(1), bits), element(a))  # [N, blocks, block]
    scales = n.build.reshape(n.input(2), [columns, blocks])
    zeros = _zero_points(n, a, bits, columns, blocks)
    if groups is None:
        scales = n.build.unsqueeze(scales, [2])
        zeros = n.build.unsqueeze(zeros, [2]) if rank(zeros) else zeros
    else:
        weights = _first(n, n.build.reshape(weights, [columns, blocks * block]), k)
        scales = n.add(ge.Gather(scales, groups, axis=1))
        zeros = n.add(ge.Gather(zeros, groups, axis=1)) if rank(zeros) else zeros
    weights = n.add(ge.Mul(n.add(ge.Sub(weights, zeros)), scales))
    if groups is None:
        weights = _first(n, n.build.reshape(weights, [columns, blocks * block]), k)
    return n.add(ge.MatMulV2(a, weights, n.optional(5), transpose_x2=True))


def _zero_points(n: Node, a: SSAValue, bits: int, columns: int, blocks: int) -> SSAValue:
    """What is taken from the numbers of each block, [N, blocks]; half their range where the node gives nothing."""
    if not n.has(3):
        return n.build.scalar(2 ** (bits - 1), a)
    zero = n.input(3)
    if element(zero) == UI8:
        width = -(-blocks * bits // 8)
        zero = _first(n, unpacked(n, n.build.reshape(zero, [columns, width]), bits), blocks)
    return n.build.cast(n.build.reshape(zero, [columns, blocks]), element(a))


@onnx_op("GatherBlockQuantized", domain=DOMAIN)
def gather_block_quantized(n: Node) -> SSAValue:
    """Inputs: data, indices, scales, zero_points?. Rows of a table whose numbers have a scale and zero point for each
    block along `quantize_axis`; bytes hold numbers of `bits`, packed along the last dimension.

    Rows are gathered before they are dequantised, so the table stays as small as it is.
    """
    data, scales, bits = n.input(0), n.input(2), 8
    dims = rank(data)
    axis, along = n.axis(n.attr_int("gather_axis", 0), dims), n.axis(n.attr_int("quantize_axis", 1), dims)
    block = n.attr_int("block_size", 128)
    narrow = NARROW.get(n.build.narrow.get(data, 0))
    if narrow is None:
        bits = n.attr_int("bits", 4)
        if bits not in (2, 4, 8):
            n.refuse(f"bits = {bits} is not supported, expected 2, 4 or 8")
    if axis == along:
        n.refuse("gather_axis and quantize_axis are the same, which is not supported")

    def rows(table: SSAValue, length: int) -> SSAValue:
        """The rows of a table as numbers of the result's element type, `length` of them along the last dimension."""
        kind = n.build.narrow.get(table)
        picked = n.add(ge.Gather(table, n.input(1), axis=axis))
        if kind is not None:
            picked = decode(n, picked, NARROW[kind])
        elif element(picked) == UI8:
            picked = _first(n, unpacked(n, picked, bits), length)
        return n.build.cast(picked, element(scales))

    last = shape(data)[dims - 1] * (8 // bits)
    values, factors = rows(data, last), n.add(ge.Gather(scales, n.input(1), axis=axis))
    moved = along + rank(n.input(1)) - 1 if along > axis else along
    extent = shape(values)[moved]
    if extent == -1 or shape(scales)[dims - 1] == -1:
        n.refuse("the extents of the table must be known", hint="give input shapes")
    places = n.build.const(np.arange(extent, dtype=np.int64) // (block or extent))
    if n.has(3):
        zeros = rows(n.input(3), shape(scales)[dims - 1])
        values = n.add(ge.Sub(values, n.add(ge.Gather(zeros, places, axis=moved))))
    elif narrow is None:
        values = n.add(ge.Sub(values, n.build.scalar(2 ** (bits - 1), values)))
    return n.add(ge.Mul(values, n.add(ge.Gather(factors, places, axis=moved))))
