"""A graph as text: one line a node, in the order of evaluation."""

from __future__ import annotations

from infimum.graph.indexmap import Affine, IndexMap, Window
from infimum.graph.node import REDUCTIONS, Node, ancestors
from infimum.graph.payload import map_of, value_of

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def show(outputs: list[Node], title: str) -> str:
    """Name every node, say what it is made of and how many elements it has."""
    nodes = ancestors(outputs)
    names: dict[Node, str] = {}
    lines = [title]
    for node in nodes:
        if node.op == "x":
            names[node] = "x"
        elif node.op == "constant" and node.size == 1:
            names[node] = repr(node.data)
        else:
            names[node] = f"t{len([n for n in names.values() if n.startswith('t')])}"
    width = max(len(name) for name in names.values()) if names else 1
    for node in nodes:
        if names[node].startswith("t"):
            size = f"({node.size})" if node.size > 1 else ""
            lines.append(f"  {names[node]:<{min(width, 8)}} {size:>10}  {_formula(node, names)}")
    lines.append("  -> " + ", ".join(names[node] for node in outputs))
    return "\n".join(lines)


def _formula(node: Node, names: dict[Node, str]) -> str:
    args = [names[a] for a in node.args]
    if node.op in _INFIX:
        return f"{args[0]} {_INFIX[node.op]} {args[1]}"
    if node.op == "constant":
        return f"constants {value_of(node)!r}"
    if node.op == "take":
        return f"{args[0]}[{_indices(map_of(node))}]"
    if node.op in REDUCTIONS:
        groups = f", {node.size} groups of {node.data}" if node.size > 1 else ""
        return f"{node.op.removesuffix('_of')}({args[0]}{groups})"
    if node.op == "others":
        return f"others({args[0]}, {node.data})"
    extra = f", {node.data}" if node.data is not None else ""
    return f"{node.op}({', '.join(args)}{extra})"


def _indices(m: IndexMap) -> str:
    if isinstance(m, Affine) and not m.dims:
        return str(m.offset)
    if isinstance(m, Affine) and len(m.dims) == 1:
        return f"{m.offset} + {m.dims[0][1]}*i" if m.dims[0][1] != 1 else (f"{m.offset} + i" if m.offset else "i")
    if isinstance(m, Affine):
        terms = [f"{stride}*i{d}" for d, (_, stride) in enumerate(m.dims) if stride]
        return " + ".join([str(m.offset), *terms])
    if isinstance(m, Window):
        return f"{m.offset} + {m.step}*i or 0"
    return f"table of {m.size}"
