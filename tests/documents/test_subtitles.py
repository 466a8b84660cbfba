"""Subtitles: codes stay in their cues, and the sentences of two speakers are two."""

import pytest

from documents.test_round_trips import subtitles, translated, upper


def cue_texts(output):
    return [block.split("\n", 2)[-1].strip("\n") for block in output.decode().split("\n\n")]


def test_codes_at_the_ends_of_cues_stay_there(tmp_path):
    text = subtitles(
        [("\n", ["<i>one two three,</i>"]), ("\n", ["<i>four five</i>", "<i>six seven.</i>"])]
    )

    def translate(texts):
        assert texts == ["one two three, four five six seven."]
        return ["a b c d e f g h."]

    first, second = cue_texts(translated(tmp_path, "a.srt", text, translate)[0])[:2]
    lines = [first, *second.split("\n")]
    assert all(line.startswith("<i>") and line.endswith("</i>") for line in lines)
    assert " ".join(line[3:-4] for line in lines) == "a b c d e f g h."


def test_the_voices_of_a_cue_are_apart_and_one_voice_goes_on(tmp_path):
    text = subtitles(
        [
            ("\n", ["<v Ann>One two</v>", "<v Bob>three four.</v>"]),
            ("\n", ["<v Ann>Five six"]),
            ("\n", ["<v Ann>seven eight."]),
        ],
        vtt=True,
    )
    asked = []

    def translate(texts):
        asked.extend(texts)
        return upper(texts)

    output = translated(tmp_path, "a.vtt", text, translate)[0].decode()
    assert asked == ["One two", "three four.", "Five six seven eight."]
    assert output.count("<v Ann>") == 3 and output.count("<v Bob>THREE FOUR.</v>") == 1


def test_words_with_times_get_their_share_of_the_words_of_a_cue(tmp_path):
    text = subtitles([("\n", ["one"]), ("\n", ["two<i> three</i><b> four</b>"])])
    output = translated(tmp_path, "a.srt", text, lambda texts: ["a b c d"] * len(texts))[0]
    assert b"<i> c</i><b> d</b>" in output or b"<i> b</i><b> c" in output


def film(*texts, pause=500):
    """Returns SubRip with a second for each text, and a pause of milliseconds behind it."""
    blocks, now = [], 0
    for number, text in enumerate(texts, start=1):
        times = (
            f"00:{ms // 60_000:02}:{ms // 1000 % 60:02},{ms % 1000:03}" for ms in (now, now + 1000)
        )
        blocks.append(f"{number}\n{' --> '.join(times)}\n{text}\n")
        now += 1000 + pause
    return "\n".join(blocks)


def sentences(tmp_path, text, **options):
    asked = []

    def translate(texts):
        asked.extend(texts)
        return upper(texts)

    translated(tmp_path, "a.srt", text, translate, **options)
    return asked


SPEECH = ("It is late.", "Where is the dog?", "He ran away.")


@pytest.mark.parametrize("sign", ["PARIS", "NO ENTRY", "<i>PARIS, 1999</i>"])
def test_a_sign_in_capitals_is_no_part_of_a_sentence(tmp_path, sign):
    bare = sign.removeprefix("<i>").removesuffix("</i>")
    text = film(*SPEECH, "We go to the", sign, "The cat sleeps.", f"{sign}\nThe end comes.")
    expected = [*SPEECH, "We go to the", bare, "The cat sleeps.", "The end comes."]
    assert sentences(tmp_path, text) == expected
    text = film(*SPEECH, "We work for the", "FBI.", "Oh, the", "FBI", "said it,", "BOB.")
    expected = [*SPEECH, "We work for the FBI.", "Oh, the", "FBI said it, BOB."]
    assert sentences(tmp_path, text) == expected


def test_a_film_in_capitals_has_sentences_over_cues(tmp_path):
    text = film("IT IS", "LATE.", "WHERE IS", "THE DOG?", "HE", "RAN AWAY.")
    assert sentences(tmp_path, text) == ["IT IS LATE.", "WHERE IS THE DOG?", "HE RAN AWAY."]


@pytest.mark.parametrize("title", ["Chapter Two", "The End of the World", "Jane Doe, Teacher"])
def test_a_title_is_no_part_of_a_sentence(tmp_path, title):
    expected = [*SPEECH, title, "The cat sleeps."]
    assert sentences(tmp_path, film(*expected)) == expected
    going_on = [*SPEECH, f"{title} was good."]
    assert sentences(tmp_path, film(*SPEECH, title, "was good.")) == going_on


def test_nouns_with_capitals_make_no_title(tmp_path):
    texts = "Es ist spät.", "Der Mann im Haus", "Peter sah ihn.", "Er ging."
    whole = ["Es ist spät.", "Der Mann im Haus Peter sah ihn.", "Er ging."]
    assert sentences(tmp_path, film(*texts, pause=200), source_language="de") == whole
    assert sentences(tmp_path, film(*texts, pause=500), source_language="de") == [*texts]


@pytest.mark.parametrize("empty", ["", " ", "<i></i>", "&nbsp;", "{\\an8}"])
def test_an_empty_cue_ends_a_sentence(tmp_path, empty):
    text = film(*SPEECH, "The dog", empty, "and the cat ran.")
    assert sentences(tmp_path, text) == [*SPEECH, "The dog", "and the cat ran."]
