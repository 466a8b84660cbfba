"""The texts of formats that have a place for the translation beside each text."""

import collections
import json
import re
import xml.etree.ElementTree as ET

from support.document_contents.placeholder_patterns import (
    ADDRESS,
    GETTEXT,
    PRINTF,
    RST,
    STRINGS,
    TAG,
    TEMPLATE,
    pattern_for,
)
from support.document_contents.units import GAP, LETTER, Pair, Unit, decoded
from support.document_contents.xml_contents import IN_XLIFF, XmlUnits, local_name


def xliff_units(before: bytes, after: bytes) -> Pair:
    """Returns each source without a target, and its target in the translation."""
    old, new = ET.fromstring(before), ET.fromstring(after)
    units = [Unit(raw="(elements)"), Unit(raw="(elements)")]
    for unit, root in zip(units, (old, new), strict=True):
        for element in _outside_targets(root):
            unit.add("elements", local_name(element))
    pair = [units[0]], [units[1]]
    old_entries, new_entries = list(_xliff_entries(old)), list(_xliff_entries(new))
    if len(old_entries) != len(new_entries):
        raise ValueError("the translation has another number of units")
    for (source, target, is_translated), (_, new_target, _) in zip(
        old_entries, new_entries, strict=True
    ):
        if source is None or not is_translated:
            continue
        is_open = target is None or not ("".join(target.itertext()).strip() or len(target))
        reference = _xliff_unit(source if is_open else target)
        translation = _xliff_unit(new_target) if new_target is not None else Unit()
        if is_open and new_target is None and not LETTER.search(reference.text):
            continue
        if is_open and LETTER.search(reference.text):
            reference.add("entries", "target")
            if translation.text.strip(GAP + " \n\t"):
                translation.add("entries", "target")
        pair[0].append(reference)
        pair[1].append(translation)
    return pair


def _outside_targets(element):
    yield element
    for child in element:
        if local_name(child) != "target" and isinstance(child.tag, str):
            yield from _outside_targets(child)


def _xliff_entries(element, is_translated=True):
    is_translated = {"no": False, "yes": True}.get(element.get("translate", ""), is_translated)
    if local_name(element) in ("trans-unit", "segment"):
        children = {local_name(child): child for child in element}
        yield children.get("source"), children.get("target"), is_translated
        return
    for child in element:
        yield from _xliff_entries(child, is_translated)


def _xliff_unit(element):
    _, unit, *_ = XmlUnits(IN_XLIFF).read(element)
    unit.counts["elements"] = collections.Counter(
        f"{local_name(child)} {child.get('id') or child.get('startRef')}"
        for child in element.iter()
        if child is not element and isinstance(child.tag, str)
    )
    for name, text in _xliff_pairs(element):
        if LETTER.search(text):
            unit.add("emphasis", name)
    return unit


def _xliff_pairs(element):
    """Yields the name of each pair of codes, such as `<bx>` and `<ex>`, and the text between."""
    opened: dict[str, list[str]] = {}
    for child in element.iter():
        name, code = local_name(child), child.get("id", "")
        key = child.get("rid") or child.get("startRef") or code
        if name in ("bx", "bpt", "sc"):
            opened[key] = []
        elif name in ("ex", "ept", "ec") and key in opened:
            yield key, "".join(opened.pop(key))
        elif name == "x" and code.startswith("START_"):
            opened[code.removeprefix("START_")] = []
        elif name == "x" and (key := code.removeprefix("CLOSE_")) in opened:
            yield key, "".join(opened.pop(key))
        own = "" if name in IN_XLIFF.code else child.text or ""
        tail = child.tail or "" if child is not element else ""
        for texts in opened.values():
            texts += [own, tail]


def gettext_units(before: bytes, after: bytes) -> Pair:
    """Returns the texts of each message without a translation, and its translations."""
    import polib

    old, new = polib.pofile(_decoded_po(before)), polib.pofile(_decoded_po(after))
    units = [Unit(raw="(messages)"), Unit(raw="(messages)")]
    for unit, catalog in zip(units, (old, new), strict=True):
        for entry in catalog:
            unit.add("elements", f"{entry.msgctxt} {entry.msgid}")
    pair = [units[0]], [units[1]]
    for entry, translated in zip(old, new, strict=False):
        pattern = _gettext_pattern(entry)
        if entry.obsolete:
            continue
        if entry.msgid_plural:
            forms = sorted(translated.msgstr_plural.items())
            sources = [entry.msgid, *[entry.msgid_plural] * (len(forms) - 1)]
            texts = [form for _, form in forms]
            is_open = not any(entry.msgstr_plural.values())
            if len(forms) == 1 and is_open:
                sources = [_nearer(texts[0], entry.msgid_plural, entry.msgid)]
        else:
            sources, texts, is_open = [entry.msgid], [translated.msgstr], not entry.msgstr
        if not is_open:
            sources = list(entry.msgstr_plural.values()) or [entry.msgstr]
        for source, text in zip(sources, texts, strict=False):
            reference, translation = Unit(source, source, pattern), Unit(text, text, pattern)
            if is_open and LETTER.search(source):
                reference.add("entries", "msgstr")
                if text.strip():
                    translation.add("entries", "msgstr")
            pair[0].append(reference)
            pair[1].append(translation)
    return pair


def _nearer(text, plural, singular):
    """Returns the source of a language's only form, which is made of either."""
    return (
        singular
        if text and abs(len(text) - len(singular)) < abs(len(text) - len(plural))
        else plural
    )


def _decoded_po(content):
    match = re.search(rb"charset=([\w-]+)", content[:4000])
    encoding = match[1].decode() if match and match[1] != b"CHARSET" else "utf-8"
    return content.decode(encoding, "replace").removeprefix("\ufeff")


def _gettext_pattern(entry):
    if any(flag.startswith("no-") for flag in entry.flags):
        return pattern_for(*ADDRESS, TAG, *RST)
    known = [GETTEXT[flag] for flag in entry.flags if flag in GETTEXT]
    return pattern_for(*ADDRESS, *TEMPLATE, *RST, TAG, *(known or [PRINTF, r"\{\w+\}"]))


def catalog_units(before: bytes, after: bytes) -> Pair:
    """Returns the source of each string of an xcstrings file, and its new localization."""
    old, new = json.loads(decoded(before)), json.loads(decoded(after))
    pair: Pair = ([Unit(raw="(keys)")], [Unit(raw="(keys)")])
    for units, catalog in zip(pair, (old, new), strict=True):
        for key in catalog["strings"]:
            units[0].add("elements", key)
    for key, entry in old["strings"].items():
        localizations = entry.get("localizations", {})
        translated = new["strings"][key].get("localizations", {})
        source = localizations.get(old["sourceLanguage"])
        leaves = dict(_leaves(source)) if source else {("stringUnit", "value"): key}
        new_languages = translated.keys() - localizations.keys()
        for language, localization in localizations.items():
            pair[0][0].add("code", f"{key} {language} {localization}")
            pair[1][0].add("code", f"{key} {language} {translated.get(language)}")
        for language in new_languages:
            for path, text in _leaves(translated[language]):
                reference = leaves.get(path) or _other_form(leaves, path, key)
                pair[0].append(Unit(reference, reference, STRINGS))
                pair[1].append(Unit(text, text, STRINGS))
                if LETTER.search(reference):
                    pair[0][-1].add("entries", "value")
                    if text.strip():
                        pair[1][-1].add("entries", "value")
    return pair


def _leaves(node, path=()):
    for key, value in node.items() if isinstance(node, dict) else ():
        if key == "value" and isinstance(value, str):
            yield (*path, key), value
        else:
            yield from _leaves(value, (*path, key))


def _other_form(leaves, path, key):
    """Returns the source of a form of a plural that the source does not have."""
    near = [text for source_path, text in leaves.items() if source_path[:2] == path[:2]]
    return next(reversed(near), key)
