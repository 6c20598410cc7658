"""A memory plan as a picture: time to the right, bytes upwards, a rectangle a buffer, the fullest phase marked."""

from __future__ import annotations

from html import escape

from gecc.memory.report import Report, Row

WIDTH, HEIGHT = 1100, 560
LEFT, BOTTOM = 70, 40
COLOURS = ("#4e79a7", "#f28e2b", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#9c755f", "#e15759")


def svg(report: Report) -> str:
    """The picture as SVG; the name of a buffer shows when the pointer rests on it."""
    phases = max((r.last for r in report.rows), default=0) + 1
    arena = max(report.arena, 1)
    wide, high = (WIDTH - LEFT - 10) / phases, (HEIGHT - BOTTOM - 10) / arena
    fullest, _ = report.busiest

    def box(row: Row, colour: str) -> str:
        x, width = LEFT + row.first * wide, (row.last - row.first + 1) * wide
        height = row.size * high
        y = HEIGHT - BOTTOM - row.offset * high - height
        return (
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" fill="{colour}" '
            f'fill-opacity="0.75" stroke="#333" stroke-width="0.4"><title>{escape(_about(row))}</title></rect>'
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect x="{LEFT}" y="10" width="{phases * wide:.2f}" height="{arena * high:.2f}" fill="#f7f7f7"/>',
        f'<rect x="{LEFT + fullest * wide:.2f}" y="10" width="{wide:.2f}" height="{arena * high:.2f}" fill="#d62728" '
        f'fill-opacity="0.18"><title>fullest: phase {fullest}</title></rect>',
        *(box(row, COLOURS[number % len(COLOURS)]) for number, row in enumerate(report.rows)),
    ]
    for share in range(5):
        y = HEIGHT - BOTTOM - share / 4 * arena * high
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{round(arena * share / 4)}</text>')
    for number in range(0, phases, max(1, phases // 12)):
        x = LEFT + number * wide
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}">{number}</text>')
    parts.append(
        f'<text x="{LEFT}" y="{HEIGHT - 6}">phase; bytes of the arena upwards; phase {fullest} is the fullest</text>'
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def html(report: Report, title: str) -> str:
    """One page without anything from elsewhere: the numbers, the picture, the table."""
    return (
        f"<!doctype html>\n<html><head><meta charset='utf-8'><title>{escape(title)}</title>"
        "<style>body{font-family:sans-serif;margin:2em}pre{font-size:12px}</style></head><body>\n"
        f"<h1>{escape(title)}</h1>\n<pre>{escape(report.summary())}</pre>\n{svg(report)}"
        f"<pre>{escape(report.table())}</pre>\n</body></html>\n"
    )


def _about(row: Row) -> str:
    shared = f", in place of {row.shares}" if row.shares else ""
    return f"{row.id}: {row.maker}\n{row.size} bytes at {row.offset}, phases {row.first} to {row.last}{shared}"
