"""Fine-tuning: the initial weights of a model that starts from another."""

import io

import numpy as np
import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

from kformer import (
    TextClassifier,
    TextTagger,
    Tokenizer,
    Transformer,
    TransformerEncoder,
    Translator,
)
from kformer.training import Recipe, warm_start
from kformer.training.kinds.translation_learner import new_translator
from kformer.training.run.fine_tuning import sizes, warm_start_stack
from support import toy
from support.reference import perturbed

SIZES = {"num_layers": 1, "d_model": 32, "num_heads": 2, "d_ff": 64, "norm_first": True}
BYTE = sentencepiece_model_pb2.ModelProto.SentencePiece.BYTE


def learnt(vocab_size=300, lines=toy.SOURCES + toy.TARGETS, **options):
    """A tokenizer of lines of text."""
    written = io.BytesIO()
    special = {"pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=vocab_size,
        minloglevel=2,
        **{"byte_fallback": True, **special, **options},
    )
    return Tokenizer(written.getvalue())


def changed(tokenizer, change):
    """The tokenizer after a change to its list of pieces."""
    model = sentencepiece_model_pb2.ModelProto.FromString(tokenizer.model)
    pieces = change(list(model.pieces))
    del model.pieces[:]
    model.pieces.extend(pieces)
    return Tokenizer(model.SerializeToString())


def enlarged(tokenizer, *texts):
    """The tokenizer with more pieces, and all but the special ones in another order."""

    def change(pieces):
        new = [type(pieces[0])(piece=text, score=-9.0) for text in texts]
        others = [*new, *pieces[4:]]
        np.random.default_rng(0).shuffle(others)
        return [*pieces[:4], *others]

    return changed(tokenizer, change)


def translator(source, target=None, **sizes):
    """With random weights."""
    own = {} if target is None else {"target_vocab_size": target.vocab_size}
    settings = {**SIZES, "padding_id": source.padding_id, **own, **sizes}
    transformer = Transformer(source.vocab_size, **settings)
    return Translator(source, perturbed(transformer), target)


def ids_by_piece(tokenizer):
    return {piece: i for i, piece in enumerate(tokenizer.pieces(range(tokenizer.vocab_size)))}


def source_table(translator):
    return translator.transformer.source_embedding.get_weights()[0]


def test_a_model_with_the_same_vocabulary_translates_the_same(toy_translator):
    new = translator(toy_translator.tokenizer, dropout=0.3)
    assert new.translate(toy.SOURCES) != toy_translator.translate(toy.SOURCES)
    warm_start(new, toy_translator)
    np.testing.assert_equal(new.transformer.get_weights(), toy_translator.transformer.get_weights())
    assert new.translate(toy.SOURCES) == toy_translator.translate(toy.SOURCES)


@pytest.mark.prove
def test_the_cell_positions_and_an_ignored_end_are_kept(toy_translator):
    tokenizer, cell = toy_translator.tokenizer, {"decoder_cell": "ssru"}
    settings = {"first_position": 2, "max_wavelength": 20_000.0, **cell}
    old = translator(tokenizer, **settings, ignored_source_id=tokenizer.end_id)
    new = new_translator(Recipe.named("tiny", **sizes(old.transformer)), tokenizer, old)
    assert new.translate(toy.SOURCES) == old.translate(toy.SOURCES)
    with pytest.raises(ValueError, match=r"Received: first_position=0 instead of 2\."):
        warm_start(translator(tokenizer, **cell), old)
    with pytest.raises(ValueError, match=r"Received: decoder_cell=attention instead of ssru\."):
        warm_start(translator(tokenizer), old)


@pytest.mark.prove
def test_a_model_with_the_same_two_vocabularies_translates_the_same(two_vocabularies):
    old = two_vocabularies
    new = translator(old.tokenizer, old.target_tokenizer, norm_first=False)
    warm_start(new, old)
    np.testing.assert_equal(new.transformer.get_weights(), old.transformer.get_weights())
    assert new.translate(toy.SOURCES) == old.translate(toy.SOURCES)


def test_the_other_model_does_not_change(toy_translator):
    before = toy_translator.transformer.get_weights()
    warm_start(translator(enlarged(toy_translator.tokenizer, "xy")), toy_translator)
    np.testing.assert_equal(before, toy_translator.transformer.get_weights())


@pytest.mark.prove
def test_old_ids_keep_their_logits_in_a_larger_vocabulary():
    old = translator(learnt())
    new = translator(enlarged(old.tokenizer, "▁hun", "atz", "▁🙂", "qq"))
    warm_start(new, old)
    place = ids_by_piece(new.tokenizer)
    new_ids = np.array([place[piece] for piece in old.tokenizer.pieces(range(300))])
    assert not np.array_equal(new_ids, np.arange(300))
    source, target = np.random.randint(0, 300, (2, 3, 7))  # Padding among them.
    before = old.transformer((source, target))
    after = new.transformer((new_ids[source], new_ids[target]))
    np.testing.assert_allclose(after.numpy()[..., new_ids], before, rtol=1e-5, atol=1e-5)


@pytest.mark.prove
def test_known_pieces_and_special_ids_keep_their_vectors():
    """The other has other ids for what is special, and other names."""
    names = {"pad_id": 3, "unk_id": 2, "bos_id": 1, "eos_id": 0, "eos_piece": "[END]"}
    old = translator(learnt(lines=toy.TARGETS, vocab_size=290, **names))
    new = translator(learnt(lines=toy.SOURCES, vocab_size=290))
    warm_start(new, old)
    before, after = source_table(old), source_table(new)
    for new_id, old_id in [(0, 3), (1, 2), (2, 1), (3, 0)]:
        np.testing.assert_array_equal(after[new_id], before[old_id])
    old_ids, new_ids = ids_by_piece(old.tokenizer), ids_by_piece(new.tokenizer)
    known = [piece for piece in new_ids if piece in old_ids]
    assert {"<0x00>", "<0xFF>", "▁", "."} <= set(known) and len(known) < 290
    for piece in known:
        np.testing.assert_array_equal(after[new_ids[piece]], before[old_ids[piece]])


@pytest.mark.prove
@pytest.mark.parametrize(
    ("piece", "parts"),
    [
        ("▁thecat", ["▁the", "c", "at"]),  # At the head of a word,
        ("thecat", ["t", "h", "e", "c", "at"]),  # or inside it.
        ("▁🙂a", ["▁", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>", "a"]),
        ("ﬁ", ["<0xEF>", "<0xAC>", "<0x81>"]),  # Not normalised once more.
        ("▁▁", ["▁", "▁"]),
    ],
)
def test_a_new_piece_gets_the_mean_of_the_old_pieces_that_spell_it(piece, parts):
    scores = {"▁the": -1.0, "▁": -2.0, "at": -2.0, **dict.fromkeys("theca", -3.0)}
    kept = learnt(vocab_size=290)

    def only(pieces):
        normal = [type(pieces[0])(piece=text, score=score) for text, score in scores.items()]
        return [*pieces[:4], *(one for one in pieces if one.type == BYTE), *normal]

    old = translator(changed(kept, only))
    new = translator(enlarged(old.tokenizer, piece))
    warm_start(new, old)
    before = source_table(old)[[ids_by_piece(old.tokenizer)[part] for part in parts]]
    after = source_table(new)[ids_by_piece(new.tokenizer)[piece]]
    np.testing.assert_allclose(after, before.mean(axis=0), rtol=1e-6)


@pytest.mark.prove
def test_a_piece_that_old_pieces_cannot_spell_keeps_its_random_vector():
    """Without bytes there: letters that it never saw, and the bytes themselves."""
    old = translator(learnt(vocab_size=33, lines=toy.TARGETS, byte_fallback=False))
    new = translator(enlarged(learnt(), "▁ζώον", "▁häuser", "▁the"))
    random = source_table(new)
    warm_start(new, old)
    ids = ids_by_piece(new.tokenizer)
    for piece in ("▁ζώον", "▁häuser", "<0x41>", "<0xFF>"):
        np.testing.assert_array_equal(source_table(new)[ids[piece]], random[ids[piece]])
    assert np.any(source_table(new)[ids["▁the"]] != random[ids["▁the"]])


def test_each_side_may_have_its_own_vocabulary(two_vocabularies):
    old = two_vocabularies
    source, target = enlarged(old.tokenizer, "ab"), enlarged(old.target_tokenizer, "ab", "cd")
    new = translator(source, target, norm_first=False)
    warm_start(new, old)
    for side, tokenizer, old_tokenizer in (
        ("source_embedding", source, old.tokenizer),
        ("target_embedding", target, old.target_tokenizer),
    ):
        before = getattr(old.transformer, side).get_weights()[0]
        after = getattr(new.transformer, side).get_weights()[0]
        place = ids_by_piece(tokenizer)
        pieces = old_tokenizer.pieces(range(old_tokenizer.vocab_size))
        np.testing.assert_array_equal(after[[place[piece] for piece in pieces]], before)


@pytest.mark.prove
def test_one_vocabulary_may_become_two_but_not_two_one(two_vocabularies):
    tokenizer = two_vocabularies.tokenizer
    joint = translator(tokenizer, norm_first=False)
    apart = translator(tokenizer, tokenizer, norm_first=False)
    warm_start(apart, joint)
    assert apart.translate(toy.SOURCES[:7]) == joint.translate(toy.SOURCES[:7])
    with pytest.raises(ValueError, match="Received: target_vocab_size=None instead of 290"):
        warm_start(joint, two_vocabularies)


@pytest.mark.prove
@pytest.mark.parametrize(
    ("sizes", "received"),
    [
        ({"d_model": 16}, "d_model=16 instead of 32"),
        ({"num_heads": 4}, "num_heads=4 instead of 2"),
        (
            {"num_layers": 2, "d_ff": 7},
            "num_layers=2 instead of 1, num_decoder_layers=2 instead of 1, d_ff=7 instead of 64",
        ),
        ({"norm_first": False}, "norm_first=False instead of True"),
    ],
)
def test_other_sizes_are_an_error_that_changes_nothing(sizes, received):
    old = translator(learnt())
    new = translator(old.tokenizer, **sizes)
    before = new.transformer.get_weights()
    with pytest.raises(ValueError, match=f"Received: {received}."):
        warm_start(new, old)
    np.testing.assert_equal(before, new.transformer.get_weights())


def test_a_model_of_mixed_precision_starts_from_one_of_float32(toy_translator):
    new = translator(toy_translator.tokenizer, dtype="mixed_bfloat16")
    warm_start(new, toy_translator)
    np.testing.assert_equal(new.transformer.get_weights(), toy_translator.transformer.get_weights())


@pytest.mark.prove
def test_an_output_bias_goes_with_its_pieces():
    tokenizer = learnt()
    old = translator(tokenizer, output_bias=True)
    larger = enlarged(tokenizer, "▁hundchen")
    before = old.transformer.target_embedding.bias.numpy()
    for new in (
        translator(larger, output_bias=True),
        translator(tokenizer, larger, output_bias=True),
    ):
        warm_start(new, old)
        bias = new.transformer.target_embedding.bias.numpy()
        for piece, value in zip(tokenizer.pieces(range(300)), before, strict=True):
            assert bias[larger.pieces(range(301)).index(piece)] == value
    with pytest.raises(ValueError, match=r"Received: output_bias=False instead of True\."):
        warm_start(translator(tokenizer), old)


@pytest.mark.prove
def test_rows_of_an_output_of_its_own_go_with_their_pieces():
    tokenizer = learnt()
    old = translator(tokenizer, tied_output=False)
    new = translator(tokenizer, enlarged(tokenizer, "▁hundchen"), tied_output=False)
    warm_start(new, old)
    rows = new.transformer.target_embedding.output_table.numpy()
    before = old.transformer.target_embedding.output_table.numpy()
    pieces = new.target_tokenizer.pieces(range(301))
    for piece, row in zip(tokenizer.pieces(range(300)), before, strict=True):
        np.testing.assert_array_equal(rows[pieces.index(piece)], row)
    with pytest.raises(ValueError, match=r"Received: tied_output=True instead of False\."):
        warm_start(translator(tokenizer), old)


@pytest.mark.parametrize(("kind", "head_is_copied"), [(TextTagger, True), (TextClassifier, False)])
def test_a_tagger_starts_from_any_encoder_and_from_the_head_of_a_tagger(
    tokenizer, kind, head_is_copied
):
    labels = ["O", "B-X", "I-X"]
    new, old = (
        model(tokenizer, TransformerEncoder(tokenizer.vocab_size, 1, 16, 2, 24), labels)
        for model in (TextTagger, kind)
    )
    warm_start_stack(new, old)
    encoders = new.network.encoder.weights, old.network.encoder.weights
    assert all(np.array_equal(*weights) for weights in zip(*encoders, strict=True))
    kernels = [model.network.head.kernel.numpy() for model in (new, old)]
    assert np.array_equal(*kernels) == head_is_copied


def test_a_student_of_fewer_layers_starts_from_layers_at_even_distances():
    tokenizer = learnt()
    old = translator(tokenizer, num_layers=5, num_decoder_layers=2)
    new = translator(tokenizer, num_layers=3, num_decoder_layers=1)
    warm_start(new, old)
    layers = [(stack.layers, old_stack.layers) for stack, old_stack in stacks(new, old)]
    for (copies, originals), places in zip(layers, ([0, 2, 4], [0]), strict=True):
        for copy, place in zip(copies, places, strict=True):
            np.testing.assert_equal(copy.get_weights(), originals[place].get_weights())
    for stack, old_stack in stacks(new, old):
        np.testing.assert_equal(stack.norm.get_weights(), old_stack.norm.get_weights())
    np.testing.assert_equal(source_table(new), source_table(old))
    with pytest.raises(ValueError, match=r"Received: num_layers=5 instead of 3"):
        warm_start(old, new)


def stacks(*translators):
    """Pairs of the encoders, and of the decoders."""
    return [*zip(*(each.transformer.parts for each in translators), strict=True)]
