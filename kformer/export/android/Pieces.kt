package kformer

private const val IDEOGRAPHIC_SPACE = '\u3000'

/** A part of a text: joined, the three fields are the part. `source` is translated; the others stay. */
internal data class Piece(val before: String, val source: String, val after: String)

/** Returns pieces that all have a source, but the only one of a text without any. */
internal fun withSources(pieces: Iterable<Piece>): List<Piece> {
    val kept = StringBuilder()
    val found = mutableListOf<Piece>()
    for (piece in pieces) {
        if (piece.source.isNotEmpty()) {
            found += piece.copy(before = kept.toString() + piece.before)
            kept.setLength(0)
        } else {
            kept.append(piece.before).append(piece.after)
        }
    }
    if (kept.isNotEmpty()) {
        val last = found.removeLastOrNull() ?: Piece("", "", "")
        found += last.copy(after = last.after + kept)
    }
    return found
}

/** Puts translations into the places of their sources. */
internal class Joining(private val rules: TextRules) {
    /** Returns the text of pieces with as many translations in place of their sources. */
    fun join(pieces: List<Piece>, translations: List<String>): String = buildString {
        for ((place, piece) in pieces.withIndex()) {
            if (place == 0) append(piece.before)
            else append(between(pieces[place - 1], translations[place - 1], piece, translations[place]))
            append(translations[place])
        }
        append(pieces.lastOrNull()?.after.orEmpty())
    }

    /**
     * Returns what separates the translations of two pieces that follow each other: no space between
     * sentences of Chinese and Japanese, one between others, and all else as in the source.
     */
    private fun between(piece: Piece, translation: String, next: Piece, nextTranslation: String): String {
        val gap = piece.after + next.before
        if (translation.isEmpty() || nextTranslation.isEmpty() || !rules.spaces.matches(gap)) return gap
        if (isUnspaced(translation + nextTranslation)) {
            return if (IDEOGRAPHIC_SPACE in gap) IDEOGRAPHIC_SPACE.toString() else ""
        }
        if (gap.isEmpty() && touches(piece.source, next.source)) {
            return if (touches(translation, nextTranslation)) "" else " "
        }
        return gap.replace(IDEOGRAPHIC_SPACE, ' ')
    }

    private fun touches(before: String, after: String): Boolean {
        val last = before.substring(before.offsetByCodePoints(before.length, -1))
        val first = after.substring(0, after.offsetByCodePoints(0, 1))
        return rules.unspacedWords.containsMatchIn(last + first)
    }

    /** Returns whether most of a text is Chinese or Japanese: a character counts as a word. */
    private fun isUnspaced(text: String): Boolean {
        val characters = rules.unspaced.findAll(text).count()
        if (characters == 0) return false
        return characters >= WORD.findAll(rules.unspaced.replace(text, " ")).count()
    }
}

private val WORD = Regex("\\p{L}+")
