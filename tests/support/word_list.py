"""A linter's word list: names that do not tell what a value is, such as `one` or `found`.

    python tests/support/word_list.py [FILE or FOLDER ...]

prints each of them with file and line, and exits with code 1 if there are any.
"""

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "kformer"
WORDS = {"found", "given", "made", "one", "other", "others", "said", "there", "told"}
PUBLIC = {"fine_tuning.py": "other", "search_options.py": "given"}  # Public names stay.


def names(node: ast.AST) -> list[str]:
    """Returns the names that a node gives to values: variables, parameters, functions."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return [node.attr]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return [node.name or ""]
    return [node.asname or ""] if isinstance(node, ast.alias) else []


def empty_names(source: str) -> list[tuple[int, str]]:
    """Returns the line and the name of each one in `source` that is on the word list."""
    return sorted(
        (node.lineno, name)
        for node in ast.walk(ast.parse(source))
        for name in names(node)
        if (bare := name.lstrip("_")) in WORDS or bare.startswith("of_")
    )


def main(paths: list[Path]) -> int:
    """Prints the empty names of the files at `paths` and in folders; returns the exit code."""
    files = [file for path in paths for file in sorted(path.rglob("*.py")) or [path]]
    lines = [
        f"{file}:{line}: `{name}` does not tell what the value is"
        for file in files
        for line, name in empty_names(file.read_text(encoding="utf-8"))
        if PUBLIC.get(file.name) != name
    ]
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main([Path(path) for path in sys.argv[1:]] or [PACKAGE]))
