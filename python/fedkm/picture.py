"""Pictures that notebooks show: a fitted model as a small page, and its history as a curve."""

import html
import pathlib

import numpy as np

_COLOURS = ["#3b6ea8", "#d1495b", "#2e9e6b", "#e0a100", "#7d5ba6", "#4fb0c6", "#a0522d", "#6b7a8f"]


class Picture:
    """An SVG that notebooks show."""

    def __init__(self, svg):
        self._svg = svg

    def _repr_svg_(self):
        return self._svg

    def save(self, path):
        """Writes the SVG."""
        pathlib.Path(path).write_text(self._svg, "utf-8")


def _svg(width, height, parts, label):
    box = f'xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    style = 'font-family="sans-serif" font-size="11" fill="#333"'
    return f'<svg {box} role="img" aria-label="{html.escape(label)}" {style}>{"".join(parts)}</svg>'


def history_picture(history):
    """The objective over the rounds, from the start on."""
    width, height, left, low = 420, 220, 70, 180
    rounds = [one["round"] for one in history]
    values = [one["objective"] for one in history]
    least, most = min(values), max(values)

    def x(at):
        return left + (width - left - 15) * at / max(1, rounds[-1])

    def y(value):
        return low - (low - 20) * (value - least) / ((most - least) or 1)

    line = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in zip(rounds, values))
    dots = [f'<circle cx="{x(at):.1f}" cy="{y(value):.1f}" r="2"/>' for at, value in zip(rounds, values)]
    parts = [
        f'<path d="M{left} 15V{low}H{width - 10}" fill="none" stroke="#999"/>',
        f'<polyline points="{line}" fill="none" stroke="{_COLOURS[0]}" stroke-width="1.5"/>',
        f'<g fill="{_COLOURS[0]}">{"".join(dots)}</g>',
        f'<text x="{left - 6}" y="{y(most) + 4:.1f}" text-anchor="end">{most:.5g}</text>',
        f'<text x="{left - 6}" y="{low}" text-anchor="end">{least:.5g}</text>',
        f'<text x="{left}" y="{low + 16}">0</text>',
        f'<text x="{width - 12}" y="{low + 16}" text-anchor="end">{rounds[-1]}</text>',
        f'<text x="{(left + width) / 2:.0f}" y="{low + 32}" text-anchor="middle">round</text>',
        f'<text x="8" y="12">objective</text>',
    ]
    return _svg(width, height, parts, "the objective, round by round")


def model_page(model):
    """An estimator as HTML: its parameters and, once it is fitted, its network, its centroids and what it took."""
    heading = f"<pre>{html.escape(repr(model))}</pre>"
    if not hasattr(model, "cluster_centers_"):
        return f"<div>{heading}<p>not fitted</p></div>"
    names = getattr(model, "feature_names_in_", None)
    columns = [f"x{c + 1}" for c in range(model.n_features_in_)] if names is None else list(names)
    sizes = np.sum(model.device_sizes_, axis=0)
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in ["cluster", "rows", *columns[:8]])
    body = "".join(
        f'<tr><td><span style="color:{_COLOURS[c % len(_COLOURS)]}">&#9679;</span> {c}</td><td>{size:.0f}</td>'
        + "".join(f"<td>{value:.4g}</td>" for value in center[:8])
        + "</tr>"
        for c, (size, center) in enumerate(zip(sizes, model.cluster_centers_))
    )
    state = "settled" if model.converged_ else "not settled"
    words = f"{state} after {model.n_iter_} rounds, {model.n_messages_} messages, {model.n_bytes_} bytes"
    return f"<div>{heading}<p>{words}</p>{_network(model)}<table><tr>{head}</tr>{body}</table></div>"


#: More devices than these are not drawn.
_MOST_DRAWN = 40


def _network(model):
    """Devices on a circle, each a ring of its clusters' shares, and their links."""
    count = len(model.devices_)
    links = getattr(model, "_model", {}).get("links", [])
    if count < 2 or count > _MOST_DRAWN:
        return ""
    angles = 2 * np.pi * np.arange(count) / count - np.pi / 2
    places = np.column_stack([150 + 100 * np.cos(angles), 130 + 95 * np.sin(angles)])
    number = {str(name): i for i, name in enumerate(model.devices_)}
    parts = []
    for link in links:
        (x1, y1), (x2, y2) = (places[number[name]] for name in link["devices"])
        parts.append(f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#bbb"/>')
    around = 2 * np.pi * 9
    for (x, y), name, sizes in zip(places, model.devices_, model.device_sizes_):
        at = 0.0
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="13" fill="#fff"/>')
        for c, share in enumerate(sizes / max(1, sizes.sum())):
            dash = f'stroke-dasharray="{share * around:.2f} {around:.2f}" stroke-dashoffset="{-at * around:.2f}"'
            colour = _COLOURS[c % len(_COLOURS)]
            ring = f'fill="none" stroke="{colour}" stroke-width="8"'
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" {ring} {dash}/>')
            at += share
        parts.append(f'<text x="{x:.1f}" y="{y + 25:.1f}" text-anchor="middle">{html.escape(str(name))}</text>')
    return _svg(300, 270, parts, f"{count} devices and their links")
