// A stand-in for Android's org.json: what the app and the tests use of it.
package org.json

class JSONArray(private val values: List<Any?>) {
    constructor(json: String) : this((Reader(json).value() as JSONArray).values)

    fun length(): Int = values.size

    fun get(index: Int): Any = checkNotNull(values[index])

    fun getInt(index: Int): Int = (get(index) as Number).toInt()

    fun getString(index: Int): String = get(index) as String

    fun getJSONArray(index: Int): JSONArray = get(index) as JSONArray

    fun getJSONObject(index: Int): JSONObject = get(index) as JSONObject

    override fun toString(): String = values.joinToString(",", "[", "]", transform = ::written)
}

class JSONObject private constructor(private val values: LinkedHashMap<String, Any?>) {
    constructor() : this(LinkedHashMap())

    constructor(copyFrom: Map<String, Any?>) : this(LinkedHashMap(copyFrom))

    constructor(json: String) : this((Reader(json).value() as JSONObject).values)

    fun keys(): Iterator<String> = values.keys.iterator()

    fun has(name: String): Boolean = name in values

    fun isNull(name: String): Boolean = values[name] == null

    fun put(name: String, value: Any?): JSONObject = apply { values[name] = value }

    fun get(name: String): Any = values[name] ?: throw IllegalArgumentException("No value for $name")

    fun getInt(name: String): Int = (get(name) as Number).toInt()

    fun getDouble(name: String): Double = (get(name) as Number).toDouble()

    fun getString(name: String): String = get(name) as String

    fun getJSONObject(name: String): JSONObject = get(name) as JSONObject

    fun getJSONArray(name: String): JSONArray = get(name) as JSONArray

    fun optInt(name: String, fallback: Int): Int = (values[name] as? Number)?.toInt() ?: fallback

    fun optString(name: String, fallback: String): String = values[name]?.toString() ?: fallback

    fun optJSONObject(name: String): JSONObject? = values[name] as? JSONObject

    fun optJSONArray(name: String): JSONArray? = values[name] as? JSONArray

    override fun toString(): String =
        values.entries.joinToString(",", "{", "}") { "${written(it.key)}:${written(it.value)}" }
}

private fun written(value: Any?): String = if (value is String) quoted(value) else value.toString()

private fun quoted(text: String): String = buildString {
    append('"')
    for (character in text) {
        if (character in "\"\\" || character !in ' '..'~') append("\\u%04x".format(character.code))
        else append(character)
    }
    append('"')
}

private class Reader(private val json: String) {
    private var place = 0

    fun value(): Any? {
        skip()
        return when (json[place]) {
            '{' -> JSONObject(members('}') { text().also { next(':') } to value() }.toMap())
            '[' -> JSONArray(members(']') { value() })
            '"' -> text()
            else -> plain()
        }
    }

    private fun <T> members(end: Char, member: () -> T): List<T> {
        val found = mutableListOf<T>()
        place += 1
        while (peek() != end) {
            found += member()
            if (peek() == ',') place += 1
        }
        place += 1
        return found
    }

    private fun plain(): Any? {
        val word = json.drop(place).takeWhile { it.isLetterOrDigit() || it in "+-." }
        place += word.length
        return when (word) {
            "null" -> null
            "true", "false" -> word == "true"
            else -> word.toIntOrNull() ?: word.toDouble()
        }
    }

    private fun text(): String = buildString {
        next('"')
        while (json[place] != '"') {
            val character = json[place++]
            if (character != '\\') append(character) else append(escaped())
        }
        place += 1
    }

    private fun escaped(): Char =
        when (val letter = json[place++]) {
            'n' -> '\n'
            't' -> '\t'
            'r' -> '\r'
            'b' -> '\b'
            'f' -> '\u000c'
            'u' -> json.substring(place, place + 4).toInt(16).toChar().also { place += 4 }
            else -> letter
        }

    private fun next(expected: Char) = check(peek() == expected) { "Not $expected at $place" }.also { place += 1 }

    private fun peek(): Char = skip().let { json[place] }

    private fun skip() {
        while (place < json.length && json[place].isWhitespace()) place += 1
    }
}
