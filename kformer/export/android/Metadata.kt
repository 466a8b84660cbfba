package kformer

import java.io.File
import java.io.IOException
import java.io.RandomAccessFile
import java.nio.Buffer
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.channels.FileChannel
import java.security.MessageDigest
import org.json.JSONObject

private const val END = 0x06054b50 // Signature of the record that ends the archive.
private const val LISTED = 0x02014b50 // Signature of a file in the central directory.
private const val STORED = 0 // Uncompressed.
private const val NEWEST_FORMAT = 2

/** The metadata of a `.tflite` file: `kformer.json` of the ZIP archive at its end. */
internal class Metadata private constructor(private val content: JSONObject) {
    val maxSourceBytes = content.getInt("max_source_bytes")
    val paddingId = content.getInt("padding_id")
    val targetEndId = content.optInt("target_end_id", content.getInt("end_id"))
    val targetPaddingId = content.optInt("target_padding_id", paddingId)
    val sourceLanguage = text("source_language")
    val targetLanguage = text("target_language")
    val licence = text("licence")
    val citation = text("citation")

    /** The id of each target language by its code; empty if the model has no choice. */
    val targetLanguages: Map<String, Int> =
        content.optJSONObject("target_languages")?.let { ids ->
            ids.keys().asSequence().associateWith { ids.getInt(it) }
        } ?: emptyMap()

    /** The names of the scripts whose letters the model can spell, such as "Latin"; null for all. */
    val scripts: Set<String>? =
        content.optJSONArray("scripts")?.let { names -> List(names.length()) { names.getString(it) }.toSet() }

    /** Whether sentences in capitals are read in small letters, as the model never saw any. */
    val lowersCapitals = !content.isNull("reads_capitals") && content.get("reads_capitals") == false

    /** The quality below which a translation is unsure; null for a file without an estimate. */
    val qualityThreshold: Double? = content.optJSONObject("quality_estimate")?.getDouble("threshold")

    private fun text(name: String): String? = if (content.isNull(name)) null else content.getString(name)

    private fun checksum(): String? = text("sha256")

    companion object {
        /** Reads the metadata of the file in `bytes`. */
        fun of(bytes: ByteBuffer): Metadata {
            val content = JSONObject(inArchive(bytes, "kformer.json"))
            val format = content.getInt("format")
            if (format != NEWEST_FORMAT) {
                throw IOException("This app reads .tflite files of format $NEWEST_FORMAT. Received: $format.")
            }
            val kind = content.optString("kind", "translator")
            if (kind != "translator") throw IOException("A translator is needed. Received: a $kind.")
            return Metadata(content)
        }

        /** Reads the metadata of a file and compares the file with the checksum in it. */
        fun ofWhole(file: File): Metadata = RandomAccessFile(file, "r").use { opened ->
            val bytes: ByteBuffer = opened.channel.map(FileChannel.MapMode.READ_ONLY, 0, opened.length())
            val metadata = of(bytes)
            val expected = metadata.checksum() ?: return@use metadata
            val model = bytes.duplicate()
            model.move(0, metadata.content.getInt("model_bytes"))
            val digest = MessageDigest.getInstance("SHA-256").apply { update(model) }.digest()
            val found = digest.joinToString("") { "%02x".format(it) }
            if (found != expected) throw IOException("The .tflite file was damaged or changed: $file.")
            metadata
        }
    }
}

/** Returns the text of a file in the ZIP archive at the end of `bytes`. */
internal fun inArchive(bytes: ByteBuffer, name: String): String {
    val view = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN)
    fun short(place: Int) = view.getShort(place).toInt() and 0xffff
    fun text(start: Int, length: Int): String {
        val content = ByteArray(length)
        view.duplicate().apply { move(start, start + length) }.get(content)
        return String(content, Charsets.UTF_8)
    }
    val last = view.limit() - 22
    val end = (last downTo maxOf(0, last - 0xffff)).firstOrNull { view.getInt(it) == END }
        ?: throw IOException("The .tflite file is not whole: its end, with the metadata, is missing.")
    // Offsets count from the archive's start, which follows LiteRT's part of any size.
    var place = end - view.getInt(end + 12)
    val shift = place - view.getInt(end + 16)
    repeat(short(end + 10)) {
        val (nameLength, extraLength, commentLength) = listOf(28, 30, 32).map { short(place + it) }
        if (view.getInt(place) != LISTED || short(place + 10) != STORED) {
            throw IOException("The archive at the end of the .tflite file is broken.")
        }
        if (text(place + 46, nameLength) == name) {
            val start = view.getInt(place + 42) + shift
            val content = start + 30 + short(start + 26) + short(start + 28)
            return text(content, view.getInt(place + 20))
        }
        place += 46 + nameLength + extraLength + commentLength
    }
    throw IOException("The .tflite file has no metadata of a translator from text to text.")
}

/** Sets both ends of a buffer; by the class `Buffer`, as Android had it before version 9, too. */
private fun Buffer.move(start: Int, end: Int) {
    limit(end)
    position(start)
}
