"""Parses text into a syntax tree of bounded size, with error messages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from conformance.errors import ExpressionError

MAX_TEXT = 2000
MAX_NODES = 200
MAX_DEPTH = 40

_REFUSED = {
    "Attribute": ("values have no attributes", None),
    "Await": ("nothing is awaited here", None),
    "Call": ("only a named function can be called", None),
    "Constant": ("text and fractions are not values", "write an enum value without quotes"),
    "Dict": ("there are no dictionaries", None),
    "DictComp": ("there are no loops", "any, all, count, sum and prod go over the axes"),
    "GeneratorExp": ("there are no loops", "any, all, count, sum and prod go over the axes"),
    "IfExp": ("'if' is not allowed", "where(condition, a, b)"),
    "JoinedStr": ("text is not a value", "write an enum value without quotes"),
    "Lambda": ("functions cannot be defined", None),
    "List": ("a list may stand after 'in' only", None),
    "ListComp": ("there are no loops", "any, all, count, sum and prod go over the axes"),
    "NamedExpr": ("names cannot be assigned", "give the value a name under 'let'"),
    "Set": ("there are no sets", "x in [a, b] tests for several values"),
    "SetComp": ("there are no loops", "any, all, count, sum and prod go over the axes"),
    "Slice": ("there is no indexing", "axis == 0 singles out an axis"),
    "Starred": ("'*' cannot unpack here", None),
    "Subscript": ("there is no indexing", "axis == 0 singles out an axis"),
    "Tuple": ("a list may stand after 'in' only", None),
    "Yield": ("nothing is yielded here", None),
    "YieldFrom": ("nothing is yielded here", None),
    # operators
    "BitAnd": ("'&' is not allowed", "use 'and'"),
    "BitOr": ("'|' is not allowed", "use 'or'"),
    "BitXor": ("'^' is not allowed", "use '!=' between truth values"),
    "Div": ("'/' is not allowed", "use '//' (rounds down) or ceil_div(a, b) (rounds up)"),
    "Invert": ("'~' is not allowed", "use 'not'"),
    "Is": ("'is' is not allowed", "use '=='"),
    "IsNot": ("'is not' is not allowed", "use '!='"),
    "LShift": ("'<<' is not allowed", "multiply"),
    "MatMult": ("'@' is not allowed", None),
    "Pow": ("'**' is not allowed", "multiply the value with itself"),
    "RShift": ("'>>' is not allowed", "use '//'"),
    "UAdd": ("'+' needs two numbers", None),
}


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> ast.expr:
    """Parse an expression; the column of a node is its offset in ``text``.

    The same text, as bounds and operators of one kind repeat it, gives the same tree again.

    Raises :class:`ExpressionError` for text that is too long, not plain ASCII or no Python
    expression, and for a tree that is too large or too deep. What nodes the tree holds is for the
    caller to check.
    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(
            f"the expression is too long ({len(text)} characters)",
            offset=MAX_TEXT,
            expected=f"at most {MAX_TEXT}",
            hint="give parts of it names under 'let'",
        )
    # Plain characters only: Python's parser would take look-alike letters for ASCII ones, and
    # comments and continued lines would hide the rest.
    for offset, character in enumerate(text):
        if character in "#\\" or not (" " <= character <= "~" or character in "\t\n\r"):
            raise ExpressionError(
                f"the character {character!a} is not allowed", offset=offset, expected="plain ASCII"
            )
    spaced = text.translate({ord(c): " " for c in "\t\n\r"})
    body = spaced.lstrip()
    inset = len(spaced) - len(body)
    try:
        tree = ast.parse(body, mode="eval").body
    except SyntaxError as error:
        # Python gives no place for a text that ends too early.
        offset = inset + (min(error.offset - 1, len(body)) if error.offset else len(body))
        raise ExpressionError(
            f"this is no expression ({error.msg})" if body else "there is no expression",
            offset=offset,
            expected="an expression of names, whole numbers, operators and functions",
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise _too_deep(0) from None
    _measure(tree, inset)
    return tree


def _measure(tree: ast.expr, inset: int) -> None:
    """Refuses a tree that is too large or too deep, and moves its columns by ``inset``."""
    nodes = 0
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        for node in level:
            if isinstance(node, ast.expr):
                node.col_offset += inset
                node.end_col_offset = (node.end_col_offset or 0) + inset
        level = [child for node in level for child in _children(node)]
        if not level:
            break
    else:
        raise _too_deep(getattr(level[0], "col_offset", 0) + inset)
    if nodes > MAX_NODES:
        raise ExpressionError(
            f"the expression is too large ({nodes} parts)",
            expected=f"at most {MAX_NODES}",
            hint="give parts of it names under 'let'",
        )


def _children(node: ast.AST) -> Iterator[ast.AST]:
    return (child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _too_deep(offset: int) -> ExpressionError:
    return ExpressionError(
        "the expression is nested too deeply",
        offset=offset,
        expected=f"at most {MAX_DEPTH} levels",
        hint="give parts of it names under 'let'",
    )


def refuse(node: ast.AST, offset: int | None = None) -> ExpressionError:
    """Make the error for syntax that the language does not have."""
    message, hint = _REFUSED.get(
        type(node).__name__, (f"{type(node).__name__} is not allowed here", None)
    )
    column = getattr(node, "col_offset", 0) if offset is None else offset
    return ExpressionError(message, offset=column, hint=hint)
