package kformer

private val WHITE_SPACE = Regex("[\\s\\p{Z}]+")
private val END_OF_WORD = Regex("[\\p{L}\\p{N}\\p{M}.:]*\\z")
private val LETTERS = Regex("\\p{L}*")
private val LETTER_AND_STOP = Regex("\\p{L}\\.")
private val INITIALS = Regex("\\p{Lu}.\\z")

/** The abbreviations and ordinals of a language: they decide where a sentence was ended too early. */
internal class Abbreviations(
    private val rules: TextRules,
    val language: String,
    val always: Set<String>,
    val number: Set<String>,
    val ordinals: Set<String>,
    private val beforeOrdinals: Set<String>,
    private val numberEnds: List<String>,
    private val ordinalBegins: List<String>,
) {
    /** Returns whether `rest` belongs to `sentence`, which was ended before it. */
    fun goesOn(sentence: String, rest: String): Boolean {
        val head = sentence.takeLast(rules.near).trimEnd()
        val afterHead = rest.trimStart()
        if (head.isEmpty() || afterHead.isEmpty()) return true // White space alone.
        if (goesOnAfterQuotation(head, afterHead)) return true
        if (!head.endsWith(".")) return false
        val following = afterHead.trimStart(*rules.opening).take(rules.near)
        if (beginsSmall(following)) return true
        val words = head.trim().split(WHITE_SPACE).map { END_OF_WORD.find(it)?.value.orEmpty() }
        val last = words.last()
        val isLetter = LETTER_AND_STOP.matches(last)
        if (isLetter && LETTER_AND_STOP.matchesAt(following, 0)) return true // "z." of "z. B."
        if (isDecimal(last.removeSuffix("."))) return isOrdinal(words, following)
        return isAbbreviation(words, following) || isInitial(words)
    }

    /** Returns whether a number before `following` is an ordinal, as in "3. Mai". */
    fun isOrdinalBefore(following: String): Boolean {
        val word = LETTERS.matchAt(following, 0)?.value.orEmpty().lowercase()
        return word in ordinals || ordinalBegins.any { word.startsWith(it) }
    }

    private fun goesOnAfterQuotation(head: String, following: String): Boolean {
        val isQuoted = head.last() in rules.quotes || head.last() in "」』"
        if (isQuoted && rules.afterQuotation.matchesAt(following, 0)) return true
        val before = head.trimEnd(*rules.closing)
        val isClosed = before.length < head.length && before.isNotEmpty() && before.last() in "!?…."
        // In French, white space stands before the quotation mark: "« Non ! » dit-il".
        val inside = following.trimStart('»', '›')
        val isClosedAfter = inside.length < following.length && inside.firstOrNull()?.isWhitespace() == true
        return (isClosed || isClosedAfter) && beginsSmall(if (isClosedAfter) inside.trimStart() else following)
    }

    private fun isOrdinal(words: List<String>, following: String): Boolean {
        if (ordinals.isEmpty()) return false
        if (beginsDecimal(following)) return true // "3. 5. 2024"
        if (words.last().codePointCount(0, words.last().length) > 3) {
            return language == "hu" && isOrdinalBefore(following) // "2024. május"
        }
        val before = words.getOrElse(words.size - 2) { "" }.lowercase()
        return isOrdinalBefore(following) || before in beforeOrdinals
    }

    private fun isAbbreviation(words: List<String>, following: String): Boolean {
        val isNumbered = beginsDecimal(following) || rules.numeral.matchesAt(following, 0)
        var joined = ""
        for (place in 1..minOf(4, words.size)) {
            val word = words[words.size - place]
            if (place > 1 && !word.endsWith(".")) break
            joined = (word + joined).lowercase()
            val token = joined.removeSuffix(".")
            if (isNumbered && (token in number || numberEnds.any { token.endsWith(it) })) return true
            if (token in always) {
                // "5 m." and "1799 г." are units.
                return place > 1 || token.length > 2 || !isDecimal(words.getOrElse(words.size - 2) { "" })
            }
        }
        return false
    }

    /** Returns whether the last word is a capital and a full stop, as in "J. Bach" and "U.S.". */
    private fun isInitial(words: List<String>): Boolean {
        val word = words.last()
        val before = words.getOrElse(words.size - 2) { "" }
        if (word.length > 2 && word[word.length - 3] == '.') return INITIALS.containsMatchIn(word)
        val first = if (word.isEmpty()) 0 else word.codePointAt(0)
        val isCapital = Character.getType(first) == Character.UPPERCASE_LETTER.toInt()
        if (!isCapital || word.drop(Character.charCount(first)) != ".") return false
        if (before.lowercase() in rules.lettered) return false
        val isBeforeSmall = before.any { it.isLowerCase() } && before == before.lowercase()
        return !(language == "en" && word == "I." && isBeforeSmall)
    }
}

/** Returns whether the first character is a small letter. */
internal fun beginsSmall(text: String): Boolean =
    text.isNotEmpty() && Character.getType(text.codePointAt(0)) == Character.LOWERCASE_LETTER.toInt()

private fun isDecimal(text: String): Boolean = text.isNotEmpty() && text.all { it.isDigit() }

private fun beginsDecimal(text: String): Boolean = text.isNotEmpty() && text[0].isDigit()
