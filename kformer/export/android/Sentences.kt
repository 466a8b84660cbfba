package kformer

import android.icu.text.BreakIterator
import java.util.Locale
import kotlin.math.abs
import kotlin.math.ceil
import kotlin.math.floor

private val LINE_BREAK = Regex("\\r\\n|[\\n\\x0b\\f\\r\\x1c-\\x1e\\x85\\x{2028}\\x{2029}]")
private const val JOINER = 0x200d

/**
 * Splits texts into sentences, with Android's rules and those of [TextRules].
 *
 * @param language The code of the language of the texts, such as "de"; English rules if it is null.
 */
internal class Sentences(private val rules: TextRules, language: String?) {
    private val code = (language ?: "en").lowercase().split('-', '_')[0]
    private val known = rules.abbreviationsOf(code)
    private val marks = Marks(rules, known)
    private val iterator = BreakIterator.getSentenceInstance(Locale.forLanguageTag(code))

    /** Returns the sentences of a text with the text around them: joined, they are the text. */
    fun piecesOf(text: String): List<Piece> {
        val pieces = mutableListOf<Piece>()
        var start = 0
        for (lineBreak in LINE_BREAK.findAll(text)) {
            pieces += piecesOfLine(text.substring(start, lineBreak.range.first))
            pieces += Piece(lineBreak.value, "", "")
            start = lineBreak.range.last + 1
        }
        pieces += piecesOfLine(text.substring(start))
        return withSources(pieces)
    }

    private fun piecesOfLine(line: String): List<Piece> =
        sentencesOfLine(line).mapIndexed { place, sentence -> marks.pieceOf(sentence, place == 0) }

    private fun sentencesOfLine(line: String): List<String> {
        if (line.isEmpty()) return emptyList()
        val text = withCapitals(line)
        val first = marks.markEnd(text, true)
        val rest = text.substring(first)
        val sentences = mutableListOf<String>()
        var start = 0
        iterator.setText(rest)
        var before = iterator.first()
        while (true) {
            val boundary = iterator.next()
            if (boundary == BreakIterator.DONE) break
            val segment = rest.substring(before, boundary)
            before = boundary
            // A mark that opens a quotation belongs to the next sentence.
            val isLast = first + boundary == line.length
            val opened = if (isLast) 0 else rules.opened.find(segment)?.value?.length ?: 0
            val end = first + boundary - opened
            if (end <= maxOf(start, first)) continue
            val sentence = text.substring(maxOf(start, first), end)
            if (end == line.length || !known.goesOn(sentence, text.substring(end))) {
                sentences += line.substring(start, end)
                start = end
            }
        }
        if (start < line.length) sentences += line.substring(start)
        return sentences
    }

    /**
     * Returns a line without capitals with one at the beginning of each sentence, of equal length. A
     * small letter after a full stop is else a sign that the sentence goes on.
     */
    private fun withCapitals(line: String): String {
        val cased = line.firstOrNull { it.isUpperCase() || it.isLowerCase() }
        if (cased == null || cased.isUpperCase()) return line
        return rules.beginning.replace(line) { match ->
            match.value.uppercase(Locale.ROOT).takeIf { it.length == match.value.length } ?: match.value
        }
    }

    /**
     * Returns the two parts of a sentence that is too long for the file, which joined are the
     * sentence; null if it has none. The first part ends in the middle half of the sentence, as near
     * to its middle as it can: with a clause; if none ends there, with a word; else with a character
     * that users would call one.
     */
    fun halves(sentence: String): List<Piece>? {
        val count = sentence.codePointCount(0, sentence.length)
        val middle = count / 2.0
        val most = middle / 2
        fun distance(end: Int) = abs(end - middle)
        fun parted(end: Int): List<Piece> {
            val place = sentence.offsetByCodePoints(0, end)
            val parts = listOf(sentence.substring(0, place), sentence.substring(place))
            val plain = Marks(rules, rules.abbreviationsOf(""))
            return withSources(parts.map { plain.pieceOf(it, false) })
        }
        for (pattern in listOf(rules.clauseEnd, rules.wordEnd)) {
            val ends = pattern.findAll(sentence).map { sentence.codePointCount(0, it.range.last + 1) }
            ends.filter { distance(it) <= most }.minByOrNull(::distance)?.let { return parted(it) }
        }
        val first = maxOf(1, ceil(middle - most).toInt())
        val last = floor(middle + most).toInt()
        val end = (first..last).sortedBy(::distance).firstOrNull { !isJoined(sentence, it) }
        return end?.let(::parted)
    }

    /** Returns whether the characters before and after `end` are one for users. */
    private fun isJoined(sentence: String, end: Int): Boolean {
        val place = sentence.offsetByCodePoints(0, end)
        val before = sentence.codePointBefore(place)
        val after = sentence.codePointAt(place)
        val isMark = when (Character.getType(after).toByte()) {
            Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.COMBINING_SPACING_MARK -> true
            else -> after in 0x1f3fb..0x1f3ff // A skin tone.
        }
        return isMark || before == JOINER || after == JOINER
    }
}

/** Returns a translation without line breaks, which a text has only between sentences. */
internal fun inOneLine(text: String): String {
    val lines = LINE_BREAK.split(text)
    return (if (lines.last().isEmpty()) lines.dropLast(1) else lines).joinToString(" ")
}
