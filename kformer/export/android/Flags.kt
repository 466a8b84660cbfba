package kformer

/** What may be wrong with a translation. Most have no flag. */
enum class Flag {
    /** The sentence was too long for the file, so its clauses were translated one by one. */
    SOURCE_SPLIT,

    /** Only the beginning of the source was translated. */
    SOURCE_CUT,

    /** The end of the translation did not fit. */
    TRANSLATION_CUT,

    /** The translation reached its length limit without an end. */
    LENGTH_LIMIT,

    /** The translation repeats itself over and over. */
    LOOP,

    /** The translation has an unlikely length. */
    LENGTH_RATIO,

    /** A number of the source is missing, or an address, a placeholder or a bracket. */
    NUMBER_MISSED,
    ADDRESS_MISSED,
    PLACEHOLDER_MISSED,
    BRACKET_MISSED,

    /** Emoji or letters of another script are missing, or the file cannot spell any letter of the source. */
    UNKNOWN_CHARACTERS,

    /** The sentence is its own translation, or nearly. */
    COPIED,

    /** The estimated quality is low; only of files with a quality estimate. */
    UNSURE,
}

/** Finds degenerate translations by their ids. */
internal class DegenerateOutput(private val rules: TextRules, private val metadata: Metadata) {
    /**
     * Returns the flags of a translation, usually none.
     *
     * @param source The ids of a sentence with its end id and padding.
     * @param target The ids of its translation; padding follows the end id.
     * @param isCut Whether only the beginning of the sentence was read.
     */
    fun flags(source: IntArray, target: IntArray, isCut: Boolean): Set<Flag> = buildSet {
        if (isCut) add(Flag.SOURCE_CUT)
        val read = source.filter { it != metadata.paddingId }
        if (read.size == 1) return@buildSet // A blank sentence.
        var length = target.indexOf(metadata.targetEndId)
        if (length < 0) {
            add(Flag.LENGTH_LIMIT)
            length = target.size
            while (length > 0 && target[length - 1] == metadata.targetPaddingId) length -= 1
        }
        addAll(degenerate(read.dropLast(1), target.take(length)))
    }

    private fun degenerate(source: List<Int>, target: List<Int>): Set<Flag> = buildSet {
        val times = repetitions(target)
        if (times >= rules.minTimes && times > 2 * repetitions(source)) add(Flag.LOOP)
        val fewer = minOf(source.size, target.size)
        val more = maxOf(source.size, target.size)
        val isEmpty = source.isNotEmpty() && target.isEmpty()
        if (more > rules.maxRatio * fewer + rules.slack || isEmpty) add(Flag.LENGTH_RATIO)
    }

    /** Returns how many times in a row an n-gram comes that fills half of `ids`; 1 if none does. */
    private fun repetitions(ids: List<Int>): Int {
        val needed = maxOf(rules.minEchoes, (ids.size + 1) / 2)
        if (ids.size - ids.toSet().size < needed) return 1
        var most = 1
        for (n in 1..ids.size / 2) {
            var echoes = 0
            var longest = 0
            for (place in n until ids.size) {
                echoes = if (ids[place] == ids[place - n]) echoes + 1 else 0
                longest = maxOf(longest, echoes)
            }
            if (longest >= needed) most = maxOf(most, longest / n + 1)
        }
        return most
    }
}
