package kformer

import org.json.JSONArray
import org.json.JSONObject

/**
 * The rules of sentences, list marks and flags. `kformer export` writes them to the asset
 * `text_rules.json` from those of Python, so that an app splits texts as Python does.
 */
internal class TextRules(text: String) {
    private val content = JSONObject(text)
    private val languages = content.getJSONObject("languages")
    private val aliases = content.getJSONObject("aliases")
    private val patterns = content.getJSONObject("patterns")
    private val characters = content.getJSONObject("characters")
    private val sure = content.getJSONObject("sure")
    private val degenerate = content.getJSONObject("degenerate")

    /** Number of UTF-16 units before an end of a sentence that may decide about it. */
    val near = content.getInt("near")

    /** Words after which a capital letter is a name, as in "Plan B", and no initial. */
    val lettered = words(content.getJSONArray("lettered"))

    val opening = characters("opening")
    val quotes = characters("quotes")
    val closing = characters("closing")

    val afterQuotation = pattern("after_quotation")
    val numeral = pattern("numeral")
    val opened = pattern("opened")
    val beginning = pattern("beginning")
    val clauseEnd = pattern("clause_end")
    val wordEnd = pattern("word_end")
    val listMark = pattern("list_mark")
    val numberMark = pattern("number_mark")
    val letterMark = pattern("letter_mark")
    val innerMark = pattern("inner_mark")
    val dots = pattern("dots")
    val unspaced = pattern("unspaced")
    val unspacedWords = pattern("unspaced_words")
    val spaces = pattern("spaces")

    val whiteSpace = pattern("white_space")
    val address = pattern("address")
    val placeholder = pattern("placeholder")
    val otherDigits = pattern("other_digits")
    val digits = pattern("digits")
    val number = pattern("number")
    val spaceInNumber = pattern("space_in_number")
    val markInNumber = pattern("mark_in_number")
    val word = pattern("word")

    /** A letter of one of [scriptNames], whose group it is, in their order. */
    val scripts = pattern("scripts")
    val scriptNames = sure.getJSONArray("scripts").let { names -> List(names.length()) { names.getString(it) } }

    val brackets = sure.getString("brackets").toSet()
    val firstForeign = sure.getString("first_foreign").single()
    val leastLarge = sure.getInt("least_large").toBigInteger()
    val mostDecimals = sure.getInt("most_decimals")
    val mostInARow = sure.getInt("most_in_a_row")
    val leastCopied = sure.getInt("least_copied")
    val manyWords = sure.getInt("many_words")
    val mostly = sure.getDouble("mostly")

    val minEchoes = degenerate.getInt("min_echoes")
    val minTimes = degenerate.getInt("min_times")
    val maxRatio = degenerate.getInt("max_ratio")
    val slack = degenerate.getInt("slack")

    /** Returns the abbreviations and ordinals of a language, such as "de"; none if it is unknown. */
    fun abbreviationsOf(language: String): Abbreviations {
        val name = aliases.optString(language, language)
        val lists = languages.optJSONObject(name)
        fun kind(kind: String) = lists?.optJSONArray(kind)?.let(::words) ?: emptySet()
        val number = kind("number")
        val ordinals = kind("ordinals")
        return Abbreviations(
            rules = this,
            language = language,
            always = kind("always"),
            number = number,
            ordinals = ordinals,
            beforeOrdinals = kind("before_ordinals"),
            numberEnds = number.filter { it.startsWith("-") }.map { it.drop(1) },
            ordinalBegins = ordinals.filter { it.endsWith("-") }.map { it.dropLast(1) },
        )
    }

    private fun pattern(name: String) = Regex(patterns.getString(name))

    private fun characters(name: String) = characters.getString(name).toCharArray()

    private fun words(lines: JSONArray): Set<String> =
        (0 until lines.length()).flatMap { lines.getString(it).split(" ") }.toSet()
}
