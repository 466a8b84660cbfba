"""Remarks on text in another language than the model's."""

ENGLISH = "Yesterday we walked through the old town for a long time."


def test_text_in_another_language_than_the_models_is_remarked_on(command, tmp_path):
    remark = "kformer: the text looks like 'en' ("
    result = command("translate", "demo", ENGLISH)
    assert result.returncode == 0 and result.stderr.startswith(remark)
    result = command("translate", "demo", "--paragraphs", stdin=f"{ENGLISH}\n".encode())
    assert result.stderr.startswith(remark)
    page, output = tmp_path / "page.html", tmp_path / "page.de.html"
    page.write_text(f"<p>{ENGLISH}</p>", "utf-8")
    result = command("translate", "demo", "--input", page, "--output", output)
    assert result.stderr.startswith(remark)


def test_text_in_the_models_language_and_short_text_are_not_remarked_on(command):
    for text in ("Ein Hund läuft.", "Guten Morgen, ich möchte ein Bier.", "The dog", "9 %"):
        assert "looks like" not in command("translate", "demo", text).stderr
