"""How a convolution runs over its image: which pixels follow one another as rows of the matrix product."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from gecc.dialects import fused


@dataclass(frozen=True)
class Image:
    """An image as the loops of a convolution see it. All pairs are (of rows, of pixels in a row); pads before and behind.

    `dims` are the dimensions of the result that count rows and pixels.
    """

    extents: tuple[int, int]
    outputs: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    before: tuple[int, int]
    behind: tuple[int, int]
    dims: tuple[int, int] = (2, 3)

    @property
    def is_flat(self) -> bool:
        """Whether all pixels are as one row, of which each is the product's row: 1x1, stride 1, no padding."""
        sizes = {*self.kernel, *self.strides}
        return sizes == {1} and not any((*self.before, *self.behind))

    def turned(self) -> Image:
        """With columns for rows."""
        return Image(*(pair[::-1] for pair in astuple(self)))


def image_of(op: fused.ConvOp) -> Image:
    """The image of `op`. One that is a single column is a single row: the same bytes, and its pixels fill register tiles."""
    _, _, height, width = fused.shape_of(op.x)
    _, _, out_height, out_width = op.result_type.get_shape()
    (kh, kw), (sy, sx), (dy, dx) = fused.ints(op.kernel), fused.ints(op.strides), fused.ints(op.dilations)
    top, left, bottom, right = fused.ints(op.pads)
    image = Image((height, width), (out_height, out_width), (kh, kw), (sy, sx), (dy, dx), (top, left), (bottom, right))
    return image.turned() if (width, kw, left, right) == (1, 1, 0, 0) else image
