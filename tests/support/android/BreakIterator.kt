package android.icu.text

import java.util.Locale
import kformer.Helper
import org.json.JSONObject

private val segmenter by lazy { Helper(System.getenv("SEGMENTER").split(" ")) }

/** A stand-in for Android's ICU: the ICU of Node.js. */
class BreakIterator private constructor(private val locale: Locale) {
    private var ends = listOf(0)
    private var place = 0

    fun setText(newText: String) {
        val request = JSONObject().put("language", locale.toLanguageTag()).put("text", newText)
        val found = segmenter.ask(request).getJSONArray("ends")
        ends = listOf(0) + List(found.length()) { found.getInt(it) }
        place = 0
    }

    fun first(): Int = 0.also { place = 0 }

    fun next(): Int = if (place + 1 < ends.size) ends[++place] else DONE

    companion object {
        const val DONE = -1

        fun getSentenceInstance(where: Locale): BreakIterator = BreakIterator(where)
    }
}
