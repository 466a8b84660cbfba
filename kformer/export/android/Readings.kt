package kformer

import java.util.Locale

private const val LEAST_WORDS_IN_CAPITALS = 2 // A single word may be an acronym.
private const val LEAST_CAPITALS = 6

/** A text as a model reads it. */
internal data class Reading(
    val asked: String,
    val text: String,
    /** Whether the text is in capitals, and is read in small letters. */
    val isRaised: Boolean,
    /** Whether the text stays as it is: the model cannot spell any of its letters, and reads nothing. */
    val isKept: Boolean,
)

/**
 * Texts as a model reads them, and its answers as they are given, with the flags that their texts show.
 *
 * @param scripts The names of the scripts that the model can spell; null for all.
 * @param lowersCapitals Whether it reads sentences in capitals in small letters, as it never saw any.
 */
internal class Readings(
    rules: TextRules,
    private val scripts: Set<String>?,
    private val lowersCapitals: Boolean,
) {
    private val checks = SureChecks(rules)
    private val whiteSpace = rules.whiteSpace

    fun of(text: String): Reading {
        val isKept = scripts != null && checks.isForeign(text, scripts)
        val isRaised = !isKept && lowersCapitals && isInCapitals(text)
        val read = if (isKept) "" else if (isRaised) inSmallLetters(text) else text
        return Reading(text, read, isRaised, isKept)
    }

    /** Returns an answer of the model as it is given. */
    fun checked(reading: Reading, answer: Answer): Answer {
        if (reading.isKept) {
            return Answer(reading.asked, setOf(Flag.UNKNOWN_CHARACTERS), answer.quality?.let { 0f })
        }
        val raised = checks.flags(reading.text, answer.text)
        val isPlain = answer.quality != null && raised.isEmpty() && checks.isWordless(reading.text)
        val flags = buildSet {
            addAll(answer.flags - Flag.UNSURE)
            addAll(raised)
            if (Flag.UNSURE in answer.flags && !isPlain) add(Flag.UNSURE)
        }
        val text = if (reading.isRaised) answer.text.uppercase(Locale.ROOT) else answer.text
        return Answer(text, flags, if (isPlain) 1f else answer.quality)
    }

    /** Returns whether a sentence of several words has no small letter. */
    private fun isInCapitals(sentence: String): Boolean {
        if (!isUpper(sentence)) return false
        val words = sentence.split(whiteSpace).count(::isUpper)
        val letters = codePoints(sentence).count(Character::isUpperCase)
        return words >= LEAST_WORDS_IN_CAPITALS && letters >= LEAST_CAPITALS
    }

    /** Returns a sentence in small letters, with a capital at its beginning. */
    private fun inSmallLetters(sentence: String): String {
        val small = sentence.lowercase(Locale.ROOT)
        var first = 0
        while (first < small.length && !Character.isLetter(small.codePointAt(first))) {
            first += Character.charCount(small.codePointAt(first))
        }
        if (first == small.length) first = 0
        val end = first + Character.charCount(small.codePointAt(first))
        return small.substring(0, first) +
            small.substring(first, end).uppercase(Locale.ROOT) +
            small.substring(end)
    }
}

/** Finds what the text of a translation shows to be lost, whatever its probability. */
internal class SureChecks(private val rules: TextRules) {
    /** Returns the flags of a translation that its text shows, usually none. */
    fun flags(source: String, target: String): Set<Flag> = buildSet {
        if (source.replace(rules.whiteSpace, "").isEmpty()) return@buildSet
        if (lacksNumbers(source, target)) add(Flag.NUMBER_MISSED)
        if (lacksMatches(rules.address, source, target)) add(Flag.ADDRESS_MISSED)
        if (lacksMatches(rules.placeholder, source, target)) add(Flag.PLACEHOLDER_MISSED)
        if (brackets(source) > brackets(target)) add(Flag.BRACKET_MISSED)
        if (lacksCharacters(source, target)) add(Flag.UNKNOWN_CHARACTERS)
        if (isCopied(source, target)) add(Flag.COPIED)
        if (inARow(target) > maxOf(rules.mostInARow, inARow(source))) add(Flag.LOOP)
    }

    /** Returns whether a text has letters, and none of them of some scripts, given by name. */
    fun isForeign(text: String, scripts: Set<String>): Boolean {
        val own = lettersByScript(text).keys
        return own.isNotEmpty() && own.none { it in scripts }
    }

    /** Returns whether a text has nothing to translate: numbers, addresses and marks alone. */
    fun isWordless(text: String): Boolean =
        !rules.word.containsMatchIn(rules.placeholder.replace(rules.address.replace(text, ""), ""))

    private fun lacksMatches(pattern: Regex, source: String, target: String) =
        matches(pattern, source).any { it !in target }

    private fun lacksNumbers(source: String, target: String): Boolean {
        if (!rules.digits.containsMatchIn(source)) return false
        val named = rules.placeholder.replace(rules.address.replace(source, " "), " ")
        val bare = rules.otherDigits.replace(named, " ")
        val parts = matches(rules.digits, target).toSet() // "7.55" may be "7h55", "380 000" two numbers.
        val missed = matches(rules.number, bare).filterNot { parts.containsAll(matches(rules.digits, it)) }
        if (missed.isEmpty()) return false
        val values = numbersIn(target)
        return missed.map(::valueOf).any { isLarge(it) && waysToWrite(it).none(values::contains) }
    }

    /** Returns the numbers of a text, as [valueOf] writes them. */
    private fun numbersIn(text: String): Set<String> =
        // The space of "12 500 km" may also stand between two numbers.
        matches(rules.number, text).flatMap { it.split(rules.spaceInNumber) + it }.map(::valueOf).toSet()

    /** Returns the digits of a number, with a point before those that can only be decimals. */
    private fun valueOf(number: String): String {
        val digits = codePoints(rules.spaceInNumber.replace(number, "")).joinToString("") {
            val digit = Character.digit(it, 10)
            if (digit >= 0) "$digit" else String(Character.toChars(it))
        }
        val marks = matches(rules.markInNumber, digits)
        val parts = digits.split(rules.markInNumber)
        val isDecimal =
            marks.isNotEmpty() && (parts.last().length <= rules.mostDecimals || marks.toSet().size > 1)
        val decimals = if (isDecimal) parts.last().trimEnd('0') else ""
        val whole = (if (isDecimal) parts.dropLast(1) else parts).joinToString("").trimStart('0').ifEmpty { "0" }
        return if (decimals.isEmpty()) whole else "$whole.$decimals"
    }

    /** Returns the digits of a number as a translation may have them: 350000 is "350 thousand". */
    private fun waysToWrite(value: String): List<String> =
        generateSequence(value) { if (it.endsWith("000")) it.dropLast(3) else null }.toList()

    private fun isLarge(value: String) = "." in value || value.toBigInteger() >= rules.leastLarge

    private fun brackets(text: String) = text.count { it in rules.brackets }

    /** Returns whether letters of a foreign script, or emoji, were lost. */
    private fun lacksCharacters(source: String, target: String): Boolean {
        if (source.none { it >= rules.firstForeign }) return false
        val letters = lettersByScript(source)
        val main = listOf(letters, lettersByScript(target)).mapNotNull { own ->
            own.entries.maxByOrNull { it.value.size }?.key
        }
        val known = (main - "Emoji" + "Latin").toMutableSet()
        if ("Han" in known || "Kana" in known) known += listOf("Han", "Kana")
        return letters.any { (script, own) -> script !in known && own.toSet().any { it !in target } }
    }

    /** Returns the letters of each script of a text, by its name. */
    private fun lettersByScript(text: String): Map<String, List<String>> =
        rules.scripts.findAll(text).groupBy(
            { match -> rules.scriptNames[rules.scriptNames.indices.first { match.groups[it + 1] != null }] },
            { it.value },
        )

    private fun isCopied(source: String, target: String): Boolean {
        val (first, second) =
            listOf(source, target).map { matches(rules.word, rules.address.replace(it, " ")) }
        val small = first.filter(::isLower)
        if (small.toSet().size < rules.leastCopied) return false
        val known = second.toSet()
        val same = small.count { it in known }
        return first == second || (small.size >= rules.manyWords && same >= rules.mostly * small.size)
    }

    /** Returns how many times the most repeated word stands behind itself, at least 1. */
    private fun inARow(text: String): Int {
        var most = 1
        var times = 0
        var before: String? = null
        for (word in matches(rules.word, text.lowercase(Locale.ROOT))) {
            times = if (word == before) times + 1 else 1
            before = word
            most = maxOf(most, times)
        }
        return most
    }
}

private fun matches(pattern: Regex, text: String): List<String> = pattern.findAll(text).map { it.value }.toList()

private fun codePoints(text: String): List<Int> = buildList {
    var place = 0
    while (place < text.length) {
        val code = text.codePointAt(place)
        add(code)
        place += Character.charCount(code)
    }
}

/** Returns whether all letters of two forms are capitals, and there are some. */
private fun isUpper(text: String): Boolean {
    val codes = codePoints(text)
    return codes.any(Character::isUpperCase) && codes.none { Character.isLowerCase(it) || Character.isTitleCase(it) }
}

/** Returns whether all letters of two forms are small, and there are some. */
private fun isLower(text: String): Boolean {
    val codes = codePoints(text)
    return codes.any(Character::isLowerCase) && codes.none { Character.isUpperCase(it) || Character.isTitleCase(it) }
}
