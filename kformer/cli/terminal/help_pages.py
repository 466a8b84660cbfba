"""The `--help` pages: options in groups, nothing cut at any width, and an example at the end."""

import re
from collections import defaultdict
from typing import Any

import typer.core

from kformer.cli.terminal.replaced_inputs import check_inputs_stay

_VALUES = {"path": "PATH", "str": "TEXT", "int": "N", "float": "NUMBER"}
_TYPE = re.compile(r"<(?:list\[)?(\w+)(?: range)?\]?>")  # As typer writes a type.
_RANGE = re.compile(r"(?:; |(?<=\[))[\d.]*<?=?x[<>]=?[\d.]+(?=\])")  # And its limits.


class HelpPage(typer.core.TyperCommand):
    """A command whose options are listed by their `rich_help_panel`, and whose inputs stay."""

    def invoke(self, ctx: Any):
        """Calls the command, unless an output would replace an input."""
        check_inputs_stay(ctx)
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any):
        """Writes a list for the arguments, and one for each group of options."""
        groups = defaultdict(list)
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                name, description = _with_choices(*record)
                own = "Arguments" if parameter.param_type_name == "argument" else "Options"
                group = getattr(parameter, "rich_help_panel", None) or own
                groups[group].append((_value_in_capitals(name), _bare_defaults(description)))
        # Own options come first, but not --help alone.
        order = ["Arguments", *(["Options"] if len(groups["Options"]) > 1 else []), *groups]
        for group in dict.fromkeys(order):
            if groups[group]:
                with formatter.section(group):
                    formatter.write_dl(groups[group])

    def collect_usage_pieces(self, ctx: Any):
        return [_usage(piece) for piece in super().collect_usage_pieces(ctx)]

    def format_epilog(self, ctx: Any, formatter: Any):
        """Writes the example as it is, so that it can be copied."""
        if self.epilog:
            with formatter.section("Example"):
                for line in self.epilog.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class HelpOfGroup(typer.core.TyperGroup):
    """Commands that are listed by their `rich_help_panel`, each with its whole first sentence."""

    def format_commands(self, ctx: Any, formatter: Any):
        groups = defaultdict(list)
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            assert command is not None  # It is listed.
            [first, *_] = (command.help or "").split("\n\n")
            row = name, " ".join(first.split())
            groups[getattr(command, "rich_help_panel", None) or "Commands"].append(row)
        widest = max(len(name) for rows in groups.values() for name, _ in rows)
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(widest), text) for name, text in rows])


_MOST_CHOICES = 40  # Characters of the values of an option in its name; more are in the text.


def _with_choices(name, description):
    """Returns both, with a long list of values in the description instead of the name."""
    match = re.search(r"<(\w[^>]*\|[^>]*)>", name)
    if match is None or len(match[1]) <= _MOST_CHOICES:
        return name, description
    values = match[1].replace("|", ", ")
    return name.replace(match[0], "NAME"), f"{description}  [{values}]"


def _usage(piece):
    """Returns how often an argument may be given, such as "[TEXT]..."."""
    piece = re.sub(r"(?:\.\.\.)+", "...", re.sub("[{}]", "", piece).upper())
    return re.sub(r"^\[(\[\w+\]\.\.\.)\]\.\.\.$", r"\1", piece)


def _value_in_capitals(name):
    """Returns the name of an option or argument with its type, such as "--number N"."""
    name = _TYPE.sub(lambda match: _VALUES.get(match[1].lower(), match[1].upper()), name)
    if name.startswith("-"):
        return name
    return re.match(r"[\[{]*(\w+)", name)[1].upper()


def _bare_defaults(description):
    """Returns a description whose default is not in parentheses, without limits of numbers."""
    description = _RANGE.sub("", description).removesuffix("  []")
    return re.sub(r"\[default: \((.*?)\)", r"[default: \1", description)
