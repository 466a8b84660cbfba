package kformer

import com.google.ai.edge.litert.CompiledModel
import com.google.ai.edge.litert.TensorBuffer
import java.nio.ByteBuffer
import java.nio.CharBuffer
import java.nio.charset.CodingErrorAction

private const val SIGNATURE = "translate"
private const val SOURCE = "source"
private const val LANGUAGE = "target_language"
private const val QUALITY = "quality"
private const val SOURCE_CUT = 1 // Bits of the output `truncated`.
private const val TRANSLATION_CUT = 2
private val REPLACEMENT = "\ufffd".toByteArray() // For half of a surrogate pair, which UTF-8 cannot hold.

/** The answer of one run of the file. */
internal data class Answer(val text: String, val flags: Set<Flag>, val quality: Float?)

/** Runs a `.tflite` file with LiteRT. All calls must be from one thread at a time. */
internal class TranslatorModel(
    private val model: CompiledModel,
    private val metadata: Metadata,
    rules: TextRules,
) : AutoCloseable {
    private val degenerate = DegenerateOutput(rules, metadata)
    private val readings = Readings(rules, metadata.scripts, metadata.lowersCapitals)
    private val inputs = buffers(listOf(SOURCE), LANGUAGE, metadata.targetLanguages.isNotEmpty()) {
        model.createInputBuffer(it, SIGNATURE)
    }
    private val outputs =
        buffers(
            listOf("translation", "score", "truncated", "source_ids", "ids"),
            QUALITY,
            metadata.qualityThreshold != null,
        ) {
            model.createOutputBuffer(it, SIGNATURE)
        }
    private val encoder =
        Charsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPLACE).replaceWith(REPLACEMENT)

    /** Translates a sentence into one of the file's languages, or into its only one for null. */
    fun translate(sentence: String, language: String?): Answer {
        val reading = readings.of(sentence)
        return readings.checked(reading, answerTo(reading.text, language))
    }

    private fun answerTo(read: String, language: String?): Answer {
        val text = CharBuffer.wrap(read.trimEnd('\u0000')) // Zeros at the end are padding.
        val bytes = ByteBuffer.allocate(metadata.maxSourceBytes)
        // Writes whole characters only.
        val isOver = encoder.reset().encode(text, bytes, true).isOverflow
        inputs.getValue(SOURCE).writeInt8(bytes.array())
        language?.let { code ->
            inputs.getValue(LANGUAGE).writeInt(intArrayOf(metadata.targetLanguages.getValue(code)))
        }
        model.run(inputs, outputs, SIGNATURE)
        return answer(isOver)
    }

    private fun answer(isOver: Boolean): Answer {
        val truncated = outputs.getValue("truncated").readInt()[0]
        val isCut = isOver || truncated and SOURCE_CUT != 0
        val source = outputs.getValue("source_ids").readInt()
        val quality = outputs[QUALITY]?.readFloat()?.get(0)
        val flags = buildSet {
            addAll(degenerate.flags(source, outputs.getValue("ids").readInt(), isCut))
            if (truncated and TRANSLATION_CUT != 0) add(Flag.TRANSLATION_CUT)
            val threshold = metadata.qualityThreshold
            if (quality != null && threshold != null && quality < threshold) add(Flag.UNSURE)
        }
        val bytes = outputs.getValue("translation").readInt8()
        val length = bytes.indexOf(0).let { if (it < 0) bytes.size else it }
        return Answer(String(bytes, 0, length, Charsets.UTF_8), flags, quality)
    }

    override fun close() {
        (inputs.values + outputs.values).forEach { it.close() }
        model.close()
    }
}

private fun buffers(
    names: List<String>,
    more: String,
    hasMore: Boolean,
    create: (String) -> TensorBuffer,
): Map<String, TensorBuffer> = (if (hasMore) names + more else names).associateWith(create)
