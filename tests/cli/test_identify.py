"""`kformer identify`: the language of each line."""

import json

import kformer

LINES = ["Gestern sind wir lange gelaufen.", "", "Вчера мы долго гуляли.", "12 %"]


def test_each_line_gets_its_language_and_its_probability(command):
    text = "".join(f"{line}\n" for line in LINES).encode()
    result = command("identify", stdin=text)
    assert (result.returncode, result.stderr) == (0, "")
    answers = kformer.identify(LINES)
    assert result.stdout == "".join(
        f"{answer.language}\t{answer.confidence:.4f}\n" for answer in answers
    )
    assert [answer.language for answer in answers] == ["de", "und", "ru", "und"]


def test_json_lines_have_all_candidates(command):
    result = command("identify", *LINES[:1], "--format", "jsonl", "--languages", "de,nl")
    answer = kformer.identify(LINES[0], ["de", "nl"])
    assert json.loads(result.stdout) == {
        "language": "de",
        "confidence": answer.confidence,
        "candidates": [[*pair] for pair in answer.candidates],
    }


def test_an_unknown_language_is_refused(refused):
    assert refused("identify", "x", "--languages", "de,xx").endswith("Received: languages='xx'.")
