"""Builds the documentation site: guides, notebook and reference. `make docs` runs this.

The guides are copied, at the paths that they have, to a folder that Sphinx reads. The pages of the
reference are written there: one for each package that public names come from.
"""

import importlib
import inspect
import os
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import mock

from support import REPOSITORY
from support.guides import GUIDES

# The side bar: groups of guides, in the order in which a reader needs them.
GROUPS = {
    "Start": [
        "Start here <self>",
        "The command line <kformer/cli/README.md>",
        "kformer/imports/README.md",
        "Translate documents <kformer/documents/README.md>",
    ],
    "Train": [
        "Train a translator <kformer/training/README.md>",
        "kformer/training/recipes/README.md",
        "kformer/scale/README.md",
        "kformer/tasks/README.md",
        "kformer/training/SCALING.md",
    ],
    "Ship": [
        "kformer/server/README.md",
        "kformer/serving/README.md",
        "kformer/export/README.md",
        "kformer/pocket/README.md",
        "kformer/identification/README.md",
        "kformer/export/web/README.md",
        "kformer/export/CTRANSLATE2.md",
    ],
    "Understand": [
        "Notebook: from the equations to a translation <kformer/model/transformer.ipynb>",
        "kformer/model/README.md",
        "模型 (the model, in Chinese) <kformer/model/README.zh.md>",
        "kformer/decoding/README.md",
        "tests/benchmarks/QUALITY.md",
        "tests/benchmarks/README.md",
    ],
    "Contribute": ["tests/README.md"],
}
# Topics of the reference, in the order in which a sentence meets them: a package, and its title.
TOPICS = {
    "tasks": "Translators and other tasks",
    "model": "The model, from the paper",
    "text": "Text",
    "decoding": "Decoding",
    "training": "Training",
    "export": "Export",
    "imports": "Models of others",
    "documents": "Documents",
    "plot": "Pictures",
    "pocket": "Running a .tflite file",
    "server": "The server",
    "serving": "The client of a server",
    "scale": "Text at scale",
    "phrasebook": "The built-in text",
}
PUBLIC = ["kformer"] + [
    f"kformer.{name}"
    for name in ("training", "export", "pocket", "server", "serving", "scale", "phrasebook")
]
EXTRAS = ["apache_beam"]  # What the reference is built without, where it is not installed.
FIRST = {  # What most readers of a page of the reference look for.
    *("load", "Translator", "train", "train_classifier", "export_tflite", "export_saved_model"),
    *("PocketTranslator", "create_app", "host", "Client"),
}
RAISED_BY_METHODS = "All methods that ask the server raise"
SETTINGS = {
    "project": "kformer",
    "copyright": "the authors of kformer. Apache License 2.0",
    "html_title": "kformer",
    "html_theme": "furo",
    "html_copy_source": False,
    "extensions": [
        "myst_nb",
        "sphinx.ext.autodoc",
        "sphinx.ext.autosummary",
        "sphinx.ext.napoleon",
        "sphinx_copybutton",
        "support.docs_site",
    ],
    "html_math_renderer": "mathml",
    "source_suffix": {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"},
    "nb_execution_mode": "off",  # A test runs the notebook; its outputs are stored in it.
    "myst_enable_extensions": ["dollarmath", "html_image"],
    "myst_heading_anchors": 4,
    "napoleon_custom_sections": [
        ("Attributes", "params_style"),
        ("Call arguments", "params_style"),
        ("Warns", "Raises"),
        (RAISED_BY_METHODS, "Raises"),
    ],
    "napoleon_use_rtype": False,
    "autodoc_typehints": "none",  # Docstrings give types with shapes.
    "autosummary_generate": False,
    "autodoc_inherit_docstrings": False,  # Keras's own are not ours to show.
    "autodoc_member_order": "bysource",
    "add_module_names": False,
    "suppress_warnings": ["ref.python"],  # An attribute's name that several classes have.
    "default_role": "code",
    # "Copy" takes what a reader types: no prompt, no output, and no answer behind `# ->`.
    "copybutton_prompt_text": r">>> |\.\.\. |\$ ",
    "copybutton_prompt_is_regexp": True,
    "copybutton_line_continuation_character": "\\",
    "copybutton_exclude": ".linenos, .answer",
    "html_static_path": [str(Path(__file__).parent / "docs_static")],
    "html_css_files": ["site.css"],
}
# What axe finds in the theme's pages, and what takes its place; the class of an answer.
BETTER = [
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="All pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ('<th class="head"><p></p></th>', "<td></td>"),
    ('<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
    ("<pre>", '<pre tabindex="0">'),
    ('<span class="c1"># -&gt;', '<span class="c1 answer"># -&gt;'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
]


def build(output: Path):
    """Writes the site into the folder `output`, which is replaced."""
    shutil.rmtree(output, ignore_errors=True)
    source = output / "source"
    copy_guides(source)
    with mock([extra for extra in EXTRAS if not find_spec(extra)]):
        topics = write_reference(source)
        index = (source / "index.md").read_text("utf-8")
        for caption, pages in (*GROUPS.items(), ("Reference", topics)):
            index += contents(caption, pages)
        (source / "index.md").write_text(index, "utf-8")
        app = Sphinx(
            source,
            None,
            output,
            output / "doctrees",
            "html",
            SETTINGS,
            status=None,
            warningiserror=True,
            exception_on_warning=False,
            parallel=2,
        )
        app.build()
    for name in ("source", "doctrees"):
        shutil.rmtree(output / name)
    for page in output.rglob("*.html"):
        text = page.read_text("utf-8")
        for found, better in BETTER:
            text = text.replace(found, better)
        page.write_text(text, "utf-8")
    return app.statuscode


def setup(app):
    """Registers the functions below with Sphinx, which loads this module as an extension."""
    app.connect("autodoc-process-docstring", as_restructured_text, priority=400)
    app.connect("autodoc-process-signature", with_signature)
    app.connect("autodoc-skip-member", is_field)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    return {"parallel_read_safe": True}


def write_formula(writer, node):
    """Writes a formula as MathML, which browsers display without MathJax."""
    block = isinstance(node, nodes.math_block)
    writer.body.append(tex2mathml(node.astext(), as_block=block))
    raise nodes.SkipNode


def contents(caption, pages):
    """A table of contents that the side bar shows and the page hides."""
    listed = "\n".join(pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"


def copy_guides(source):
    """Copies the guides, the notebook and their pictures."""
    notebooks = [
        path.relative_to(REPOSITORY).as_posix() for path in REPOSITORY.glob("kformer/*/*.ipynb")
    ]
    copied = {*GUIDES, *notebooks}
    for name in copied:
        target = source / ("index.md" if name == "README.md" else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if name in GUIDES:
            target.write_text(with_links_inside(name, copied), "utf-8")
        else:
            shutil.copy(REPOSITORY / name, target)
    shutil.copytree(REPOSITORY / ".readme", source / ".readme")


def with_links_inside(guide, copied):
    """The guide's text, in which what only the repository has is named and not linked."""

    def link(match):
        text, address = match.groups()
        path, anchor, heading = address.partition("#")
        if re.match("https?:", address) or not path:
            return match[0]
        named = Path(os.path.normpath(Path(guide).parent / path)).as_posix()
        if named == "README.md":
            first = os.path.relpath("index.md", Path(guide).parent)
            return f"[{text}]({first}{anchor}{heading})"
        return match[0] if named in copied or named.startswith(".readme/") else text

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", link, GUIDES[guide])


def write_reference(source):
    """Writes a page for each topic and returns their paths.

    A page begins with a table of its names: what most readers look for, other functions, classes.
    """
    by_topic = {topic: [] for topic in TOPICS}
    for package in map(importlib.import_module, PUBLIC):
        for name in public_names(package):
            value = getattr(package, name)
            home = getattr(value, "__module__", None) or package.__name__
            area = package.__name__ if package.__name__ != "kformer" else home
            by_topic[area.split(".")[1]].append((package.__name__, name, value))
    (source / "reference").mkdir()
    for topic, names in by_topic.items():
        if not names:
            continue
        title = f"{TOPICS[topic]} (reference)"
        names = sorted(names, key=lambda entry: (entry[1] not in FIRST, isinstance(entry[2], type)))
        page = [title, "=" * len(title), "", ".. autosummary::", "   :nosignatures:", ""]
        page += [*(f"   {package}.{name}" for package, name, _ in names), ""]
        for package, name, value in names:
            kind = "class" if isinstance(value, type) else "function" if callable(value) else "data"
            page += [f"{name}", "-" * len(name), "", f".. auto{kind}:: {package}.{name}"]
            page += ["   :members:", ""] if kind == "class" else [""]
        (source / "reference" / f"{topic}.rst").write_text("\n".join(page), "utf-8")
    return [f"{TOPICS[topic]} <reference/{topic}>" for topic, names in by_topic.items() if names]


def public_names(package):
    """The names that users import from a package, or what a module defines."""
    defined = (
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == package.__name__
    )
    return getattr(package, "__all__", None) or [*defined]


def as_reference(code):
    """A link to the public name that the code is, or the code."""
    package, _, name = code.rpartition(".")
    if name.islower() and not package and "_" not in name:  # Perhaps a method, such as `load`.
        return f"``{code}``"
    for one in PUBLIC:
        if package in ("", one) and name in getattr(sys.modules[one], "__all__", ()):
            return f":py:obj:`{code} <{one}.{name}>`"
    return f"``{code}``"


def with_signature(app, kind, name, value, options, arguments, result):
    """The arguments of a layer's `__init__`, which Keras hides behind a `__new__` of its own.

    A stream that is a default is named as it is written, such as `sys.stderr`.
    """
    if kind == "class" and arguments == "(*args, **kwargs)":
        parameters = [*inspect.signature(value.__init__).parameters.values()][1:]
        parameters = [one.replace(annotation=inspect.Parameter.empty) for one in parameters]
        arguments = str(inspect.Signature(parameters))
    stream = r"<_io\.TextIOWrapper name='<(\w+)>'[^>]*>"
    return arguments and re.sub(stream, r"sys.\1", arguments), result


def is_field(app, kind, name, value, skip, options):
    """Whether to leave a member out: the fields of named tuples are in the class's docstring."""
    return skip or str(value.__doc__).startswith("Alias for field number")


def with_listed_results(text):
    """Turns the several results that a docstring names into a list under one."""

    def listed(match):
        results = re.split(r"\n(?=    \w+: )", match[2].rstrip())
        if len(results) == 1:
            return match[0]
        items = "".join("\n" + result.replace("    ", "    - ", 1) for result in results)
        return f"{match[1]}    A tuple:\n{items}\n\n".replace("\n        ", "\n      ")

    return re.sub(r"(?m)^(Returns:\n)((?:    .*\n?)+)", listed, text)


def as_restructured_text(app, kind, name, value, options, lines):
    """Turns a docstring's code, links and lists of Markdown into those of reStructuredText."""
    parts = re.split(r"(`[^`]+`)", with_listed_results("\n".join(lines)))
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"{as_reference(part[1:-1])}\\ "  # Letters may follow, as of a plural.
        else:
            part = re.sub(r"\[([^\]]+)\]\((https?:[^)\s]+)\)", r"`\1 <\2>`__", part)
            part = re.sub(r"[|]|(?<=[\w(])[*](?=\w)", r"\\\g<0>", part)
            parts[number] = re.sub(r"(?<=\S)\n(?= *- )", "\n\n", part)
    text = "".join(parts)
    lines[:] = text.split("\n")


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]).resolve()))
