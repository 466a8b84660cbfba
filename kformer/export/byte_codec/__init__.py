"""The byte codec: SentencePiece in built-in ops, from UTF-8 bytes to ids and back.

LiteRT has no tokenizer, and its loops are slow. So every loop over a text becomes a few operations
over all of its positions at once; only one loop remains.

1. Normalize. The model's table of replacements is an automaton. All positions walk through it side
   by side, one byte per step, for as many steps as the longest key has bytes. This gives each
   position its longest key, or its character, or U+FFFD for a broken byte: the bytes to write,
   and the distance to the next position.
2. Only the positions that are reached from the first by these distances count. Pointer doubling
   finds them: each reached position marks its target, then every pointer is replaced by the
   pointer's pointer. After log2(length) rounds all are marked.
3. Write. Running sums of the lengths give the place of each replacement; marks at these places,
   summed again, give the replacement of each written byte. Leading, trailing and repeated white
   space is then dropped. From here on a space is one byte.
4. Find the pieces. All positions walk through the automaton of the pieces; each step at which a
   piece ends gives its score. A character without a piece costs more than any piece.
5. Choose. The best score at each end is the maximum, over the pieces that end there, of the piece's
   score plus the best score at its beginning. This is the loop, and it keeps only a row of scores.
   The pieces of the maxima are computed afterwards, for all ends at once.
6. The chosen pieces are reached backwards from the end, by pointer doubling again. Running
   sums give their places among the ids; characters without a piece give an id for each byte.

Detokenization: each id has a slice of one long string. Step 3 writes the slices one after another,
broken runs of bytes as U+FFFD, without the space that step 3 put first.

- `codec`: `ByteCodec`, both directions, and the bytes of ids. `codec_tables`: their tables.
- `normalize`: steps 1 to 3. `segment`: steps 4 to 6, ties between pieces included.
- `scan`: walks through an automaton, pointer doubling and running sums. `double_array`: automata.
- `charsmap`, `piece_model`: replacements and pieces, as SentencePiece's model files hold them.
"""
