package kformer

private val LETTER = Regex("\\p{L}(?!\\x{fe0f})")
private val DATE = Regex("\\p{Nd}+\\.\\p{Nd}+\\.[\\s\\p{Z}]*")

/** Takes off what is kept as it is: white space, list marks and, at both ends, symbols such as emoji. */
internal class Marks(private val rules: TextRules, private val known: Abbreviations) {
    /**
     * Returns a sentence with the text around it. It has no source if it has no letter.
     *
     * @param beginsLine Whether it is the first sentence of its line, so that any list mark counts.
     */
    fun pieceOf(sentence: String, beginsLine: Boolean): Piece {
        val start = markEnd(sentence, beginsLine)
        var end = sentence.length
        while (end > start) {
            val shorter = startOfSymbol(sentence, end)
            if (shorter >= end || shorter < start) break
            end = shorter
        }
        if (start < end) rules.dots.find(sentence.substring(start, end))?.let { end = start + it.range.first }
        val source = sentence.substring(start, end)
        if (!LETTER.containsMatchIn(source)) return Piece(sentence, "", "")
        return Piece(sentence.substring(0, start), source, sentence.substring(end))
    }

    /** Returns where the white space and the marks at the beginning of a text end. */
    fun markEnd(text: String, beginsLine: Boolean): Int {
        var end = text.length - text.trimStart().length
        while (true) end = endOfMark(text, end, beginsLine) ?: return end
    }

    private fun endOfMark(text: String, start: Int, beginsLine: Boolean): Int? {
        val end = endOfSymbol(text, start)
        if (end > start) return end + text.substring(end).run { length - trimStart().length }
        if (!beginsLine) return rules.innerMark.matchAt(text, start)?.takeUnless { isDate(text, it) }?.next
        rules.listMark.matchAt(text, start)?.let { return it.next }
        rules.numberMark.matchAt(text, start)?.let { return if (isDate(text, it)) null else it.next }
        val mark = rules.letterMark.matchAt(text, start) ?: return null
        val letter = mark.groupValues[1]
        return mark.next.takeIf { beginsSmall(letter) && letter !in known.always && letter !in known.number }
    }

    /** Returns whether a number is an ordinal: "3. Mai", "1. FC" and "24.12. ist". */
    private fun isDate(text: String, mark: MatchResult): Boolean {
        if (known.ordinals.isEmpty()) return false
        val following = text.substring(mark.next)
        return (DATE.matches(mark.value) && beginsSmall(following)) || known.isOrdinalBefore(following)
    }
}

private val MatchResult.next get() = range.last + 1

/** Returns where an emoji, an arrow or the like ends; `start` if there is none. */
private fun endOfSymbol(text: String, start: Int): Int {
    if (!isSymbol(text, start)) return start
    var end = start + Character.charCount(text.codePointAt(start))
    while (end < text.length && isPartOfSymbol(text.codePointAt(end))) {
        end += Character.charCount(text.codePointAt(end))
    }
    return end
}

/** Returns where white space or a symbol starts that ends at `end`; `end` if there is none. */
private fun startOfSymbol(text: String, end: Int): Int {
    var start = text.offsetByCodePoints(end, -1)
    if (text[start].isWhitespace()) return start
    while (start > 0 && isPartOfSymbol(text.codePointAt(start))) start = text.offsetByCodePoints(start, -1)
    return if (isSymbol(text, start)) start else end
}

private fun isSymbol(text: String, place: Int): Boolean {
    if (place >= text.length) return false
    val character = text.codePointAt(place)
    val next = text.getOrNull(place + Character.charCount(character))
    if (next == '\ufe0f' && Character.isLetter(character)) return true
    if (character < 0x2190 || character in 0x3200..0x33ff) return false
    return when (Character.getType(character).toByte()) {
        Character.OTHER_SYMBOL, Character.MATH_SYMBOL, Character.MODIFIER_SYMBOL -> true
        else -> false
    }
}

private fun isPartOfSymbol(character: Int): Boolean =
    character == 0x200d || character == 0x20e3 || character == 0xfe0f || character in 0xe0020..0xe007f
