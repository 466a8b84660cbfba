"""Counts of a source tree: its size, its types, its names and its English.

`PYTHONPATH=tests python -m support.house_figures [TREE]` prints a table with a column for
`kformer/` and one for `tests/`. It reads the files and imports none of them, so that TREE, by
default this one, may also be an older version.
"""

import argparse
import ast
import collections
import io
import re
import statistics
import tokenize
from pathlib import Path

from support import REPOSITORY

EMPTY_NAMES = re.compile(r"_?(one|found|said|made|given|others|other|there|of_\w+)")
EMPTY_WORDS = re.compile(r"\b(what|those of|that of|that which)\b", re.IGNORECASE)
WORDS = re.compile(r"[\w'-]+")
CALLABLE = ("__init__", "__call__")  # Methods that a public signature shows.
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source:
    """One parsed Python file.

    Attributes:
        functions: pairs of each function and method, and whether it is inside another function.
        docstrings: pairs of each node with a docstring, and its expression.
    """

    def __init__(self, path: Path):
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.nodes = list(ast.walk(self.tree))
        self.classes = [node for node in self.nodes if isinstance(node, ast.ClassDef)]
        self.functions = list(_functions(self.tree))
        documented = (ast.Module, ast.ClassDef, *Function.__args__)
        self.docstrings = [
            (node, node.body[0])
            for node in self.nodes
            if isinstance(node, documented) and ast.get_docstring(node) is not None
        ]

    @property
    def signatures(self) -> list[Function]:
        """The public functions and methods."""
        return [
            function
            for function, nested in self.functions
            if not nested and (function.name in CALLABLE or not function.name.startswith("_"))
        ]


def _functions(node, nested=False):
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, Function)
        if is_function:
            yield child, nested
        yield from _functions(child, nested or is_function)


def parameters(function: Function) -> list[ast.arg]:
    """Returns the parameters, without `self` and `cls`."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    if named and named[0].arg in ("self", "cls"):
        del named[0]
    starred = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*named, *arguments.kwonlyargs, *starred]


def takes_anything(function: Function) -> bool:
    """Returns whether it has `*args` or `**kwargs` without a name for each argument.

    In classes of Keras, `**kwargs` are Keras's own; `Unpack` and `functools.wraps` name arguments.
    """
    if any("wraps" in ast.unparse(decorator) for decorator in function.decorator_list):
        return False
    keywords = function.args.kwarg
    named = keywords is None or keywords.arg == "kwargs"
    if keywords is not None and keywords.annotation is not None:
        named |= "Unpack[" in ast.unparse(keywords.annotation)
    return function.args.vararg is not None or not named


def lines(source: Source) -> collections.Counter:
    """Returns the numbers of lines of code, docstrings, comments, and blank ones."""
    kinds = dict.fromkeys(range(1, len(source.text.splitlines()) + 1), "blank")
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            if kinds[token.start[0]] == "blank":
                kinds[token.start[0]] = "comment"
        elif token.string.strip():
            kinds.update(dict.fromkeys(range(token.start[0], token.end[0] + 1), "code"))
    for _, docstring in source.docstrings:
        kinds.update(dict.fromkeys(range(docstring.lineno, docstring.end_lineno + 1), "docstring"))
    return collections.Counter(kinds.values())


def figures(folder: Path) -> dict[str, str]:
    """Returns the figures of all Python files under `folder`, by what they count."""
    sources = [Source(path) for path in sorted(folder.rglob("*.py"))]
    return {**_sizes(sources), **_types(sources), **_names(sources), **_english(sources)}


def _sizes(sources):
    counts = sum(map(lines, sources), collections.Counter())
    heights = [
        function.end_lineno - function.lineno + 1
        for source in sources
        for function, _ in source.functions
    ]
    return {
        "Python files": _count(sources),
        "folders": _count({source.path.parent for source in sources}),
        "lines": f"{counts.total():,}",
        **{
            f"lines: {kind}": f"{counts[kind]:,}"
            for kind in ("code", "docstring", "comment", "blank")
        },
        "functions": _count(heights),
        "median lines of a function": f"{statistics.median(heights or [0]):g}",
        "functions over 70 lines": _count([height for height in heights if height > 70]),
    }


def _types(sources):
    public = [function for source in sources for function in source.signatures]
    every = [function for source in sources for function, _ in source.functions]
    return {
        "typed parameters of public functions": _typed(public),
        "typed parameters of all functions": _typed(every),
        "public signatures with *args or the like": _count(filter(takes_anything, public)),
    }


def _typed(functions):
    annotations = [
        argument.annotation is not None
        for function in functions
        for argument in parameters(function)
    ]
    return _share(sum(annotations), len(annotations))


def _names(sources):
    nodes = [node for source in sources for node in source.nodes]
    stems = [source.path.stem for source in sources if source.path.stem != "__init__"]
    classes = [node.name for source in sources for node in source.classes]
    assigned = [
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    empty = [name for name in assigned if EMPTY_NAMES.fullmatch(name)]
    inside = {
        id(node): source.path
        for source in sources
        for function, _ in source.functions
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    }
    return {
        "file names used more than once": _count(_repeated(stems)),
        "class names used more than once": _count(_repeated(classes)),
        "assigned names that name nothing": _share(len(empty), len(assigned)),
        "written as *(a, b)": _count(
            node
            for node in nodes
            if isinstance(node, ast.Starred) and isinstance(node.value, (ast.Tuple, ast.List))
        ),
        "imports inside functions": f"{len(inside)} in {len({*inside.values()})} files",
    }


def _english(sources):
    docstrings = [
        (node, ast.get_docstring(node)) for source in sources for node, _ in source.docstrings
    ]
    words = sum(len(WORDS.findall(text)) for _, text in docstrings)
    empty = sum(len(EMPTY_WORDS.findall(text)) for _, text in docstrings)
    what = [node for node, text in docstrings if text.startswith("What")]
    see = [text for _, text in docstrings if "see `" in text.lower()]
    return {
        '"what", "those of", "that of" in docstrings': (
            f"{1000 * empty / max(words, 1):.1f} per 1,000 words"
        ),
        'docstrings that begin with "What"': _count(what),
        'docstrings of classes that begin with "What"': _count(
            [node for node in what if isinstance(node, ast.ClassDef)]
        ),
        'docstrings with "see `"': _share(len(see), len(docstrings)),
    }


def _repeated(names):
    return [name for name, count in collections.Counter(names).items() if count > 1]


def _count(values):
    return f"{len(list(values)):,}"


def _share(part, whole):
    return f"{part:,} of {whole:,} ({100 * part / max(whole, 1):.1f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", nargs="?", type=Path, default=REPOSITORY)
    tree = parser.parse_args().tree
    package, tests = figures(tree / "kformer"), figures(tree / "tests")
    print(f"{'':44}  {'kformer/':26}  tests/")
    for name, value in package.items():
        print(f"{name:44}  {value:26}  {tests[name]}")


if __name__ == "__main__":
    main()
