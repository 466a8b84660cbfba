"""Makes a random MarianMTModel, saves it, and writes what transformers says of it.

Where it is installed, CTranslate2 converts the same folder, by its own converter, and says its own.

Run as `python -m support.pretrained.with_transformers FOLDER SHAPE TEXTS`, in a process of its own:
PyTorch and TensorFlow do not always bear each other in one. TEXTS is a JSON file of `strings`, to
tokenize, and `sentences`, to translate. What it found is written to answers.json and logits.npy
beside FOLDER.
"""

import importlib.util
import json
import sys
from pathlib import Path

SHAPES = {  # As OPUS-MT has them, but for their sizes.
    "opus-mt": {"activation_function": "swish", "decoder_layers": 2},
    "tc-big": {"activation_function": "relu", "decoder_layers": 2},
    "tiny": {"activation_function": "relu", "decoder_layers": 1, "dtype": "float16"},
}
SEARCHES = {"greedy": (1, 1.0), "4 beams": (4, 1.0), "6 beams": (6, 1.0), "penalty 0.6": (4, 0.6)}
OF_CTRANSLATE2 = {"ctranslate2, greedy": 1, "ctranslate2, 4 beams": 4}
LONGEST = 40  # Ids of a translation.


def random_model(vocab_size, d_model=32, dtype="float32", **settings):
    """Returns a MarianMTModel whose answers depend on the source, with an output bias."""
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.MarianConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        encoder_layers=2,
        pad_token_id=vocab_size - 1,
        decoder_start_token_id=vocab_size - 1,
        eos_token_id=0,
        max_position_embeddings=256,
        scale_embedding=True,
        **{f"{side}_attention_heads": 4 for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 48 for side in ("encoder", "decoder")},
        **settings,
    )
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "embed_positions" in name:
                continue
            weight.add_(0.15 * torch.randn_like(weight))
            if name.endswith("weight"):
                weight.mul_(2 if "attn" in name else 6 if "fc" in name else 1)
        model.model.shared.weight[-1] = 0
        model.final_logits_bias.normal_(0, 0.5)
    model.generation_config.bad_words_ids = [[vocab_size - 1]]
    _let_answers_end(model)
    return model.to(getattr(torch, dtype))


def _let_answers_end(model):
    """Raises the bias of the end id until it is the best at every third position of answers."""
    import torch

    source = torch.randint(2, model.config.pad_token_id, (32, 9))
    said = model.generate(source, max_new_tokens=LONGEST, num_beams=1, do_sample=False)
    with torch.no_grad():
        logits = model(source, decoder_input_ids=said).logits
        missing = logits[..., :-1].max(dim=-1).values - logits[..., 0]
        model.final_logits_bias[0, 0] += missing.flatten().quantile(0.35)


def saved(folder, words, model):
    """Saves the model with its tokenizer; returns that of transformers."""
    import transformers

    model.save_pretrained(folder)
    for name, content in zip(("source.spm", "target.spm"), words.models, strict=True):
        (folder / name).write_bytes(content)
    ids = {piece: i for i, piece in enumerate(words.pieces)}
    (folder / "vocab.json").write_text(json.dumps(ids), "utf-8")
    files = {"vocab": "vocab.json", "source_spm": "source.spm", "target_spm": "target.spm"}
    files = {name: str(folder / file) for name, file in files.items()}
    transformers.MarianTokenizer(**files).save_pretrained(folder)
    return transformers.MarianTokenizer.from_pretrained(folder)


def logits_of(model, batch):
    """Returns the logits (B, T, V) of random targets, and these."""
    import torch

    target = torch.randint(2, model.config.pad_token_id, (len(batch["input_ids"]), 9))
    target[:, 0] = model.config.pad_token_id
    with torch.no_grad():
        return model(**batch, decoder_input_ids=target).logits.numpy(), target.tolist()


def translated(model, batch, beams, penalty):
    """Returns the ids of a translation, without the start id, and its score by beams."""
    found = model.generate(
        **batch,
        **{"num_beams": beams, "length_penalty": penalty, "max_new_tokens": LONGEST},
        **{"do_sample": False, "renormalize_logits": True, "forced_eos_token_id": None},
        **{"return_dict_in_generate": True, "output_scores": True},
    )
    score = float(found.sequences_scores[0]) if beams > 1 else None
    return found.sequences[0, 1:].tolist(), score


def of_ctranslate2(folder, rows):
    """Returns what CTranslate2 makes of rows of pieces: ids and scores by search.

    Length penalty 0, because it does not count the end of a sequence.
    """
    import ctranslate2

    converted = str(folder.with_name("ctranslate2"))
    converter = ctranslate2.converters.TransformersConverter(str(folder))
    converter.convert(converted)
    translator = ctranslate2.Translator(converted, compute_type="float32", intra_threads=1)
    ids = json.loads((folder / "vocab.json").read_text("utf-8"))

    def translated(beams):
        results = translator.translate_batch(
            rows,
            **{"max_batch_size": 1, "beam_size": beams, "num_hypotheses": beams},
            **{"length_penalty": 0, "min_decoding_length": 0, "return_scores": True},
            **{"max_decoding_length": LONGEST, "return_end_token": True},
        )
        return [([ids[piece] for piece in one.hypotheses[0]], one.scores[0]) for one in results]

    return {name: translated(beams) for name, beams in OF_CTRANSLATE2.items()}


def main(folder, shape, texts):
    import numpy as np
    import torch
    import transformers

    from support.pretrained import marian

    torch.set_num_threads(1)
    folder, texts = Path(folder), json.loads(Path(texts).read_text("utf-8"))
    words = marian.vocabulary((">>fra<<",))
    tokenizer = saved(folder, words, random_model(len(words.pieces), **SHAPES[shape]))
    # Read again, so that positions are float32.
    model = transformers.MarianMTModel.from_pretrained(folder, dtype=torch.float32).eval()
    batch = tokenizer(texts["sentences"][:32], padding=True, return_tensors="pt")
    logits, target = logits_of(model, batch)
    np.save(folder.with_name("logits.npy"), logits)
    each = [tokenizer([text], return_tensors="pt") for text in texts["sentences"]]
    answers = {
        "source": [tokenizer(text)["input_ids"] for text in texts["strings"]],
        "target": [tokenizer(text_target=text)["input_ids"] for text in texts["strings"]],
        "logits_of": (batch["input_ids"].tolist(), target),
        **{
            name: [translated(model, batch, *search) for batch in each]
            for name, search in SEARCHES.items()
        },
    }
    if importlib.util.find_spec("ctranslate2"):
        rows = [tokenizer.convert_ids_to_tokens(one["input_ids"][0].tolist()) for one in each]
        answers |= of_ctranslate2(folder, rows)
    folder.with_name("answers.json").write_text(json.dumps(answers), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
