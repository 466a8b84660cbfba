"""Uses every public name as a typed program does: `make lint` checks its types, nothing runs it."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

import kformer
from kformer import export, pocket, scale, server, serving, training


def reviews(tokenizer: kformer.Tokenizer, folder: Path) -> kformer.TextClassifier:
    training.classification_dataset("reviews.tsv", tokenizer, ["bad", "good"], shuffle=False)
    recipe = training.Recipe.named("reviews")
    training.train_classifier(train="reviews.tsv", output=folder)
    return kformer.training.train_classifier(recipe, "reviews.tsv", folder, pooling="first")


def sentences(tokenizer: kformer.Tokenizer, folder: Path) -> kformer.LanguageModel:
    training.language_dataset("text.txt", tokenizer, max_length=64, shuffle=False)
    recipe = training.Recipe.named("lm")
    return training.train_language_model(recipe, "text.txt", folder, tokenizer="a.model")


def tags(folder: Path, texts: list[str]) -> None:
    tagger = training.train_tagger(training.Recipe.named("words"), "train.conll", folder)
    network = kformer.TokenClassifier(kformer.TransformerEncoder(400, 1, 16, 2, 24), 2)
    kformer.TextTagger(tagger.tokenizer, network, labels=["B-X", "O"])
    served = export.ServedTagger(export.export_saved_model(tagger, folder / "served"))
    phone = pocket.PocketTagger(export.export_tflite(tagger, folder / "tagger.tflite"))
    assert_type(served.tag(texts), list[kformer.Tagging])
    assert_type(phone.tag(texts), list[kformer.Tagging])
    with serving.Client("http://localhost:8501", "tagger") as client:
        assert_type(client.tag(texts), list[kformer.Tagging])


def continued(path: str, address: str) -> list[str]:
    found: list[serving.ServedGeneration] = serving.Client(address).generations(["we"])[0]
    assert_type(found[0].text, str)
    return [
        *export.ServedLanguageModel(path).generate(["we"]),
        *pocket.PocketLanguageModel(path).generate(["we"]),
    ]


def pages(path: Path, translator: kformer.Translator) -> tuple[kformer.Unplaced, ...]:
    assert_type([*kformer.document_segments(path, keep=["url"])], list[tuple[int, str]])
    markup = kformer.translate_markup(["<b>we</b>"], translator)
    assert_type(markup, list[tuple[str, kformer.DocumentTranslation]])
    glossary = kformer.Glossary.load("terms.tsv")
    report: kformer.DocumentTranslation = kformer.translate_document(
        path, translator, "page.html", glossary=glossary
    )
    return report.unplaced


def layers(ids: np.ndarray, vectors: np.ndarray) -> kformer.Transformer:
    embedded = kformer.PositionalEncoding()(kformer.TokenEmbedding(400, d_model=16)(ids))
    memory = kformer.Encoder(2, 16, 2, 24)(embedded, kformer.padding_mask(ids, padding_id=0))
    kformer.Decoder(2, 16, 2, 24)(embedded, memory)
    kformer.EncoderLayer(16, 2, 24)(vectors)
    kformer.DecoderLayer(16, 2, 24)(vectors, memory)
    kformer.FeedForward(16, 24)(vectors)
    kformer.SSRU(16)(vectors)
    kformer.MultiHeadAttention(16, 2)(vectors, vectors, kformer.causal_mask(7))
    kformer.scaled_dot_product_attention(vectors, vectors, vectors)
    kformer.TransformerDecoder(400, 2, 16, 2, 24)(ids)
    kformer.from_torch({"linear1.weight": vectors}, num_heads=2, norm_first=True)
    return kformer.Transformer(400, num_layers=2, d_model=16, num_heads=2, d_ff=24)


def searches(keys: np.ndarray) -> tuple[kformer.Greedy, kformer.Beam, kformer.Sample]:
    return kformer.Greedy(), kformer.Beam(beam_size=4), kformer.Sample(keys, temperature=0.5)


def translator(transformer: kformer.Transformer, model: bytes) -> kformer.Translator:
    return kformer.Translator(kformer.Tokenizer(model), transformer, max_source_length=64)


def through(translators: list[kformer.AnyTranslator]) -> kformer.Route:
    assert_type(translators[0].facts.source_language, str | None)
    return kformer.Route(translators)


def ensemble(translator: kformer.Translator, texts: list[str]) -> list[str]:
    together = kformer.Ensemble([translator, translator])
    assert_type(together.score(texts, texts), list[kformer.Scored])
    assert_type(together.translations(texts)[0][0], kformer.Translation)
    return together.translate(texts, beam_size=4)


def classifier(transformer: kformer.Transformer, tokenizer: kformer.Tokenizer) -> list[str]:
    encoder = kformer.TransformerEncoder.from_transformer(transformer)
    assert_type(kformer.TextEncoder(tokenizer, encoder).encode(["ein bier"]), np.ndarray)
    network = kformer.SequenceClassifier(encoder, num_classes=2, pooling="first")
    kformer.TextClassifier(tokenizer, network, labels=["bad", "good"]).save("classifier.keras")
    model = assert_type(kformer.TextClassifier.load("classifier.keras"), kformer.TextClassifier)
    found: kformer.Predictions = model.predict(["ein bier"])
    single: kformer.Prediction = model.predict("ein bier")
    assert_type(single.label, str)
    return assert_type(found.labels, list[str])


def language_model(tokenizer: kformer.Tokenizer) -> float:
    decoder = kformer.TransformerDecoder(400, 2, 16, 2, 24)
    model = kformer.LanguageModel(tokenizer, decoder, max_length=64)
    assert_type(model.generate(["a dog"], sample=True, top_p=0.9), list[str])
    assert_type(model.generate(prompts="a dog", sample=True), str)
    options = kformer.SearchOptions(beam_size=4, n_best=2)
    several = assert_type(model.generations(["a dog"], options), list[list[kformer.Generation]])
    assert_type(several[0][0].text, str)
    return kformer.perplexity(model.score(["a dog runs ."]))


def translations(translator: kformer.Translator, texts: list[str]) -> float:
    options = kformer.SearchOptions(beam_size=4, n_best=2)
    assert_type(translator.translate(texts, beam_size=4), list[str])
    assert_type(translator.translate("ein bier", beam_size=4), str)
    several = assert_type(translator.translations(texts, options), list[list[kformer.Translation]])
    assert_type(several[0][0].flags, tuple[str, ...])
    single = assert_type(translator.translations("ein bier", options), list[kformer.Translation])
    assert_type(translator.score("ein bier", single[0].text), kformer.Scored)
    assert_type(translator.token_vectors("ein bier"), np.ndarray)
    pages = assert_type(
        translator.split_translations(texts, options, source_language="de"),
        list[kformer.SplitTranslation],
    )
    sentence: kformer.SentenceTranslation = pages[0].sentences[0]
    assert_type(sentence.source, str)
    assert_type(several[0][0].alignment, list[tuple[int, int]] | None)
    kformer.plot_history({"loss": [2.0, 1.0]}, best=2)
    kformer.plot_positions(np.eye(4))
    kformer.plot_schedules({"paper": training.WarmupSchedule(512)}, steps=9000)
    kformer.plot_attention(np.eye(3), ["a", "b", "c"], ["a", "b", "c"]).savefig("attention.png")
    views = translator.attend("ein bier").views()
    assert_type(kformer.attention_page(views, "ein bier"), str)
    assert_type(kformer.bleu(texts, texts).value, float)
    assert_type(kformer.chrf(texts, texts).value, float)
    assert_type(translator.encode(texts), np.ndarray)
    assert_type(translator.token_vectors(texts), list[np.ndarray])
    scores = translator.choose_alignment_head(texts, texts, gold=None)
    assert_type(scores, list[kformer.HeadScore])
    head = kformer.AlignmentHead(layer=2, head=None)
    found = assert_type(translator.align(texts, texts, head), list[kformer.WordAlignment])
    gold = [kformer.GoldLinks(frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))]
    assert_type(kformer.alignment_error_rate([one.links for one in found], gold), float)
    scored = assert_type(translator.score(texts, texts), list[kformer.Scored])
    return assert_type(kformer.perplexity(scored), float)


def any_form(translator: kformer.SavedTranslator, texts: list[str]) -> str:
    assert_type(translator.translate(texts, progress=print), list[str])
    assert_type(translator.translate("ein bier"), str)
    best = translator.translations(texts)[0][0]
    assert_type(best.flags, tuple[str, ...])
    return assert_type(best.text, str)


def identified(texts: list[str]) -> str:
    assert_type(kformer.identify(texts), list[kformer.Identification])
    assert_type(kformer.identification.languages(), tuple[str, ...])
    return kformer.identify("ein bier", ["de", "en"]).language


def saved_forms(folder: Path, texts: list[str]) -> None:
    assert_type(any_form(kformer.load(folder / "any.tflite"), texts), str)
    assert_type(any_form(kformer.demo(), texts), str)
    translator = kformer.Translator.load(folder / "translator.keras")
    assert_type(kformer.from_marian(folder / "opus-mt-de-en"), kformer.Translator)
    assert_type(kformer.from_bergamot(folder / "ende"), kformer.Translator)
    exported = export.export_ctranslate2(translator, folder / "ctranslate2", "int8")
    assert_type(export.export_argos_package(translator, folder / "a.argosmodel"), Path)
    assert_type(kformer.from_ctranslate2(exported, target_model="a.spm"), kformer.Translator)
    assert_type(kformer.from_fairseq(folder, dictionaries=folder), kformer.Translator)
    assert_type(kformer.from_opennmt("a.pt", source_model="a.spm"), kformer.Translator)
    assert_type(kformer.from_opennmt_tf("run", num_heads=4), kformer.Translator)
    kformer.from_published("firefox://de-en")
    served = export.ServedTranslator(export.export_saved_model(translator, folder / "served"))
    assert_type(served.translate(texts), list[str])
    tflite = export.export_tflite(translator, folder / "translator.tflite", precision="int8")
    phone = pocket.PocketTranslator(tflite)
    assert_type(phone.translate(texts), list[str])
    any_form(translator, texts), any_form(served, texts), any_form(phone, texts)
    classifier = kformer.TextClassifier.load(folder / "classifier.keras")
    of_phone = pocket.PocketClassifier(export.export_tflite(classifier, folder / "c.tflite"))
    assert_type(of_phone.predict(texts), kformer.Predictions)
    assert_type(of_phone.labels, tuple[str, ...])
    export.export_web_page(tflite, folder / "page")
    export.export_android_project(tflite, folder / "android")
    export.export_ios_project(tflite, folder / "ios")
    report: export.Report = export.Verifier(translator, texts).verify(
        "tflite", pocket.PocketTranslator(tflite), tflite
    )
    assert_type(report.bytes, int)


def served_classes(classifier: kformer.TextClassifier, folder: Path, texts: list[str]) -> None:
    served = export.ServedClassifier(export.export_saved_model(classifier, folder / "served"))
    assert_type(served.predict(texts).labels, list[str])
    assert_type(served.encode(texts), np.ndarray)
    assert_type(served.labels, tuple[str, ...])
    with serving.Client("http://localhost:8501", "classifier") as client:
        answers = assert_type(client.classify(texts), list[serving.ServedClass])
        assert_type(answers[0].probabilities, dict[str, float])


def hosted(tflite: Path) -> None:
    folder = export.CTranslate2Translator(tflite.with_name("folder"))
    any_form(folder, ["a"])
    [model] = assert_type(server.host([tflite]), list[server.HostedModel])
    assert_type(model.target_languages, tuple[str, ...])
    server.create_app([model], server.RequestLimits(characters=100), keys=["secret"])


def asked(texts: list[str]) -> None:
    with serving.Client("http://localhost:8501", timeout=9.5) as client:
        any_form(client, texts)
        try:
            assert_type(client.translate(texts), list[str])
        except serving.ServerError as error:
            assert_type(error.retry_after, float | None)
        assert_type(client.translations(texts, n_best=2), list[list[serving.ServedTranslation]])
        assert_type(client.score(texts, texts), list[serving.ServedScore])
        assert_type(client.tokenize(texts), list[serving.Tokenized])
        assert_type(client.status(), list[serving.VersionStatus])
        signatures = assert_type(client.metadata(), dict[str, serving.Signature])
        assert_type(signatures["score"].inputs["source"], serving.Tensor)


def trained(folder: Path, tokenizer: kformer.Tokenizer) -> kformer.Translator:
    source, target = folder / "train.de", folder / "train.en"
    assert_type(training.check_parallel(source, target), int)
    report: training.CorpusReport = training.check_corpus(source, target, tokenizer)
    dropped = training.count_dropped_pairs(source, target, tokenizer, max_length=64)
    assert_type(report.dropped, training.DroppedPairs)
    assert_type(dropped, training.DroppedPairs)
    recipe = training.Recipe.named("tiny")
    cost = training.training_cost(recipe, report.source_tokens, report.target_tokens)
    assert_type(cost, training.TrainingCost)
    assert_type(training.training_facts(folder), dict[str, Any] | None)
    try:
        more = training.Direction("en-fr", pairs="en-fr.tmx")
        training.train(recipe, output=folder / "several", directions=["de-en:a.de:a.en", more])
        return training.train(recipe, source, target, folder / "run", tensorboard=True)
    except training.Interrupted as interruption:
        raise SystemExit(interruption.exit_code) from interruption


def of_shards(folder: Path, recipe: training.Recipe) -> None:
    options = training.PreparationOptions(source_script="Latin", min_letters=0.2)
    manifest = training.prepare_shards(folder, "a.de.zst", "a.en.zst", options=options)
    assert_type(manifest, training.Manifest)
    training.shards_dataset([folder], weights=[2.5], shuffle=False)


def shortlisted(translator: kformer.Translator, texts: list[str]) -> list[str]:
    translator.shortlist = training.learn_shortlist(translator, "a.de", "a.en", size=512)
    translator.shortlist.save("de-en.npz")
    assert_type(kformer.Shortlist.load("de-en.npz"), kformer.Shortlist)
    return translator.translate(texts)


def at_scale(folder: Path) -> None:
    scale.Translate(folder / "model.tflite")
    flags = scale.translate_text("model.tflite", "gs://a/a.de", "gs://a/a.en", runner="FlinkRunner")
    assert_type(flags, dict[str, int])
    workers = ["--direct_num_workers=2"]
    manifest = scale.prepare_shards(folder, "a.de", "a.en", beam_options=workers)
    assert_type(manifest, training.Manifest)


def fitted(translator: kformer.Translator, folder: Path, texts: list[str]) -> None:
    training.warm_start(translator, kformer.Translator.load(folder / "old.keras"))
    pairs = [("ein bier", "a beer")]
    assert_type(training.split_pairs(pairs), tuple[list[str], list[str]])
    training.translation_dataset(tokenizer=translator.tokenizer, pairs=pairs)
    training.train(training.Recipe.named("quick"), pairs=pairs, output=folder, columns=("a", "b"))
    batches = training.translation_dataset(texts, texts, translator.tokenizer, shuffle=False)
    schedule = training.WarmupSchedule(16)
    for optimizer in training.AveragedAdam(0.001), training.AveragedMuon(schedule):
        translator.transformer.compile(
            optimizer,
            training.MaskedCrossEntropy(),
            [training.MaskedAccuracy(), training.Perplexity(), training.Tokens()],
        )
    callbacks = [
        training.TranslationScores(translator, texts, texts),
        training.WithAverage([training.KeepBest(translator, folder / "best.keras")]),
        training.KeepHistory(folder / "history.json"),
        training.StopWhenDiverged(),
        training.StopWithoutImprovement(patience=3),
        training.TensorBoardLogs(folder / "logs"),
        training.TokensPerSecond(),
        training.Progress(batches=10, epochs=2),
    ]
    model = translator.transformer
    with training.join_processes("127.0.0.1:9000", 2, 0), training.distribute(8, model_parallel=4):
        training.resumable_fit(model, batches, folder, epochs=2, callbacks=callbacks)
