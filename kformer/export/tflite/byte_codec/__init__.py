"""The byte codec: UTF-8 bytes to ids and back, as the SentencePiece library does it, in plain ops.

A phone has no tokenizer, but it can add and look up. So every loop over a text becomes a few
operations over all of its positions at once; only one loop is left.

1. Normalise. A table of the model says what is replaced by what. It is an automaton, and all
   positions walk through it side by side: the first byte of each, the second, and so on, as many
   steps as the longest key has bytes. Each position then knows its longest key, or its character,
   or that it is broken (U+FFFD): how far it is to the next one, and what to write.
2. Not every position counts, only those that are reached from the first by these distances. They
   are found by pointer doubling: whoever is reached marks where it leads to, and then every
   pointer is replaced by the pointer's pointer. After log2(length) rounds all are marked.
3. Write. Running sums of the lengths say where each replacement begins; marks at the beginnings,
   summed again, say for each byte written which replacement it belongs to. White space is then
   dropped where it repeats itself, leads or trails. From here on a space is one byte.
4. Find the pieces. Again all positions walk, now through the automaton of the pieces; a step in
   which a piece ends gives its score. A character that no piece covers costs more than any piece.
5. Choose. The best score of each end is the maximum over the pieces that end there, of their score
   and the best of their beginning. This is the loop, and all that it keeps is a row of scores.
   Which piece gave the maximum is worked out afterwards, for all ends at once.
6. The pieces chosen are those reached backwards from the end: pointer doubling again. Running sums
   give each its place among the ids; characters not covered give an id for each byte.

Back: each id has a slice of one long string. Step 3 writes the slices one after the other, broken
runs of bytes as U+FFFD, and the first space, which step 3 had put there, is left out.

`reference` does the same without graph and without tricks. `tables` holds what both read.
"""
