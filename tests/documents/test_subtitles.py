"""Subtitles: codes stay in their cues, and the sentences of two speakers are two."""

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
