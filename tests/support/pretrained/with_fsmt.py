"""Makes a random model of fairseq, and writes what transformers says of it.

Hugging Face's FSMT is a port of fairseq's Transformer; its weights have the same names there.

Run as `python -m support.pretrained.with_fsmt FOLDER TEXTS`, in a process of its own: PyTorch and
TensorFlow do not always bear each other in one. FOLDER gets a checkpoint as fairseq writes it, with
its dictionaries and SentencePiece models. TEXTS is a JSON file of sentences. What FSMT says of them
is written to answers.json and logits.npy beside FOLDER.
"""

import argparse
import json
import sys
from pathlib import Path

LONGEST = 40  # Ids of a translation.
BEAMS = (1, 4)
PADDING, END = 1, 2
_SCALES = {"encoder_attn.": 8, "self_attn.": 4, "fc": 10}  # Of weights, by a part of their names.


def random_model(sizes, d_model=32):
    """Returns an FSMTForConditionalGeneration whose answers depend on the source."""
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.FSMTConfig(
        langs=["de", "en"],
        src_vocab_size=sizes[0],
        tgt_vocab_size=sizes[1],
        d_model=d_model,
        encoder_layers=2,
        decoder_layers=2,
        activation_function="relu",
        max_position_embeddings=128,
        **{f"{side}_attention_heads": 4 for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 48 for side in ("encoder", "decoder")},
    )
    model = transformers.FSMTForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "embed_positions" in name:
                continue
            weight.add_(0.15 * torch.randn_like(weight))
            if name.endswith("weight"):
                weight.mul_(next((by for part, by in _SCALES.items() if part in name), 1))
        for side in (model.model.encoder, model.model.decoder):
            side.embed_tokens.weight[PADDING] = 0
        # The larger a row, the more often its id is the best or the worst.
        model.model.decoder.embed_tokens.weight[END] *= 4
        model.model.decoder.output_projection.weight = model.model.decoder.embed_tokens.weight
    model.generation_config.bad_words_ids = [[PADDING]]
    return model


def write_checkpoint(folder, model, words, dictionaries):
    """Writes what fairseq would write of the model, by PyTorch."""
    import torch

    from support.pretrained import fairseq

    folder.mkdir(parents=True)
    fairseq.write_text_files(folder, words, dictionaries)
    state = {
        name.removeprefix("model."): weight
        for name, weight in model.state_dict().items()
        if "embed_positions" not in name
    }
    config = model.config
    sides = {
        **{"embed_dim": config.d_model, "ffn_embed_dim": config.encoder_ffn_dim},
        **{"attention_heads": config.encoder_attention_heads, "layers": config.encoder_layers},
    }
    arguments = argparse.Namespace(
        **{f"{side}_{name}": sides[name] for side in ("encoder", "decoder") for name in sides},
        **{"task": "translation", "source_lang": "de", "target_lang": "en"},
        share_decoder_input_output_embed=True,
    )
    extra = {"train_iterator": {"epoch": 2}, "optimizer": [torch.zeros(3, dtype=torch.float64)]}
    content = {"args": arguments, "model": state, "extra_state": extra}
    torch.save(content, folder / "model.pt")


def translated(model, ids, beams):
    """Returns the ids of a translation, without the start id, and its score by beams."""
    import torch

    found = model.generate(
        torch.tensor([ids]),
        **{"num_beams": beams, "length_penalty": 1.0, "max_new_tokens": LONGEST},
        **{"do_sample": False, "renormalize_logits": True, "forced_eos_token_id": None},
        **{"return_dict_in_generate": True, "output_scores": True, "early_stopping": False},
    )
    score = float(found.sequences_scores[0]) if beams > 1 else None
    return found.sequences[0, 1:].tolist(), score


def main(folder, texts):
    import numpy as np
    import sentencepiece
    import torch

    from support.pretrained import fairseq, marian

    torch.set_num_threads(1)
    folder, texts = Path(folder), json.loads(Path(texts).read_text("utf-8"))
    words = marian.vocabulary()
    dictionaries = [[*fairseq.SPECIAL, *marian.pieces_of(model)] for model in words.models]
    model = random_model([*map(len, dictionaries)])
    write_checkpoint(folder, model, words, dictionaries)
    library = sentencepiece.SentencePieceProcessor(model_proto=words.models[0])
    ids = {piece: i for i, piece in enumerate(dictionaries[0])}
    rows = [[ids.get(piece, 3) for piece in library.encode(text, out_type=str)] for text in texts]
    rows = [[*row, END] for row in rows]
    longest = max(map(len, rows[:32]))
    source = np.full((len(rows[:32]), longest), PADDING)
    for row, known in zip(source, rows, strict=False):
        row[: len(known)] = known
    target = torch.randint(4, len(dictionaries[1]), (len(source), 9))
    target[:, 0] = END
    with torch.no_grad():
        of_source = torch.tensor(source)
        mask = (of_source != PADDING).long()
        # With a cache, FSMT applies no causal mask.
        settings = {"attention_mask": mask, "decoder_input_ids": target, "use_cache": False}
        logits = model(of_source, **settings).logits
    np.save(folder.with_name("logits.npy"), logits.numpy())
    answers = {str(beams): [translated(model, row, beams) for row in rows] for beams in BEAMS}
    answers |= {"rows": rows, "logits_of": (source.tolist(), target.tolist())}
    folder.with_name("answers.json").write_text(json.dumps(answers), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
