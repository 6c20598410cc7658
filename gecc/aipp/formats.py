"""Image formats: where the bytes of a picture are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format of bytes. The input of the model then has the shape [N, *rows and columns, bytes of a place]."""

    name: str
    colours: str
    """What its channels are, in order after the swaps: "RGB", "YUV" or "Y"; a fourth is alpha, or nothing."""
    channels: int
    """Channels that it has: 1, 3, or 4."""
    row_step: int = 1
    """Rows that share a pair of chroma."""
    column_step: int = 1
    """Columns that do."""

    @property
    def is_yuv(self) -> bool:
        """Whether colours are a luma and two chromas."""
        return self.colours == "YUV"

    def shape(self, n: int, height: int, width: int) -> tuple[int, ...]:
        """The shape of the bytes of n pictures."""
        if self.name == "YUV420SP_U8":
            return (n, height * 3 // 2, width, 1)
        if self.name == "YUV422SP_U8":
            return (n, height * 2, width, 1)
        if self.name == "YUYV_U8":
            return (n, height, width, 2)
        return (n, height, width, self.channels)


FORMATS: dict[str, Format] = {
    f.name: f
    for f in (
        Format("YUV420SP_U8", "YUV", 3, row_step=2, column_step=2),
        Format("YUV422SP_U8", "YUV", 3, column_step=2),
        Format("YUYV_U8", "YUV", 3, column_step=2),
        Format("YUV400_U8", "Y", 1),
        Format("RGB888_U8", "RGB", 3),
        Format("XRGB8888_U8", "RGB", 4),
        Format("ARGB8888_U8", "RGB", 4),
        Format("AYUV444_U8", "YUV", 4),
    )
}
"""The formats that are supported."""
