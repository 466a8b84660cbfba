package kformer

import android.content.Context
import com.google.ai.edge.litert.Accelerator
import com.google.ai.edge.litert.CompiledModel
import java.io.File
import java.io.FileInputStream
import java.nio.channels.FileChannel
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext

private const val RULES = "text_rules.json"
private const val CACHED_SENTENCES = 1_000

/**
 * The translation of a sentence.
 *
 * @property source The sentence, without white space and list marks.
 * @property flags Its faults, usually none.
 * @property quality An estimate from 0 to 1; null for a file without an estimate.
 */
data class SentenceTranslation(
    val source: String,
    val text: String,
    val flags: Set<Flag>,
    val quality: Float?,
)

/**
 * The translation of a text.
 *
 * @property text With line breaks, indents, list marks and all that has no letter as in the source.
 * @property flags The flags of all its sentences.
 */
data class Translation(val text: String, val flags: Set<Flag>, val sentences: List<SentenceTranslation>)

/**
 * Translates texts with a `.tflite` file that `kformer export` wrote.
 *
 * It runs the file on a thread of its own, so its functions can be called from any thread, also the
 * main thread. Cancelling the coroutine of [translate] ends it after the current sentence. Call
 * [close] when the translator is no longer needed: it frees the model.
 */
class KformerTranslator private constructor(
    private val thread: ExecutorCoroutineDispatcher,
    private val model: TranslatorModel,
    private val metadata: Metadata,
    private val rules: TextRules,
) : AutoCloseable {
    private val isClosed = AtomicBoolean(false)
    private val sentences = mutableMapOf<String?, Sentences>()
    private val cache =
        object : LinkedHashMap<Pair<String?, String>, Answer>(16, 0.75f, true) {
            override fun removeEldestEntry(eldest: MutableMap.MutableEntry<Pair<String?, String>, Answer>) =
                size > CACHED_SENTENCES
        }

    /** The code of the language of the texts, such as "de"; null if the file does not name it. */
    val sourceLanguage: String? get() = metadata.sourceLanguage

    /** The code of the language of the translations, if there is only one and the file names it. */
    val targetLanguage: String? get() = metadata.targetLanguage

    /** The codes of the languages to choose from; empty if the file has no choice. */
    val targetLanguages: List<String> get() = metadata.targetLanguages.keys.toList()

    /** The licence of the model, and how to cite it; null if the file does not name them. */
    val licence: String? get() = metadata.licence
    val citation: String? get() = metadata.citation

    /**
     * Translates a text of any length, sentence by sentence. A sentence that is too long for the file
     * is split at clauses.
     *
     * @param target One of [targetLanguages], if there are any.
     * @param source The code of the language of the text, for the ends of its sentences; by default
     *     [sourceLanguage].
     * @param progress Called on the translator's thread with the numbers of finished and of all
     *     sentences.
     * @throws IllegalArgumentException The file has no such target language.
     * @throws IllegalStateException The translator is closed.
     */
    suspend fun translate(
        text: String,
        target: String? = null,
        source: String? = sourceLanguage,
        progress: (done: Int, all: Int) -> Unit = { _, _ -> },
    ): Translation {
        val languages = metadata.targetLanguages.keys
        require(if (languages.isEmpty()) target == null else target in languages) {
            "The target language must be one of $languages. Received: $target."
        }
        check(!isClosed.get()) { "The translator is closed." }
        return withContext(thread) {
            val splitter = sentences.getOrPut(source) { Sentences(rules, source) }
            val pieces = splitter.piecesOf(text)
            val sources = pieces.map { it.source }.filter { it.isNotEmpty() }
            val found = sources.mapIndexed { place, sentence ->
                val answer = translateWhole(sentence, target, splitter)
                progress(place + 1, sources.size)
                SentenceTranslation(sentence, answer.text, answer.flags, answer.quality)
            }
            val texts = if (found.isEmpty()) pieces.map { "" } else found.map { it.text }
            val flags = found.flatMap { it.flags }.toSet()
            Translation(Joining(rules).join(pieces, texts), flags, found)
        }
    }

    /** Translates a sentence. What does not fit the file is halved at a clause, until it does. */
    private fun CoroutineScope.translateWhole(
        sentence: String,
        target: String?,
        splitter: Sentences,
    ): Answer {
        val key = target to sentence
        cache[key]?.let { return it }
        ensureActive()
        if (isClosed.get()) throw CancellationException("The translator was closed.")
        var answer = model.translate(sentence, target).let { it.copy(text = inOneLine(it.text)) }
        if (Flag.SOURCE_CUT in answer.flags || Flag.TRANSLATION_CUT in answer.flags) {
            val pieces = splitter.halves(sentence).orEmpty().filter { it.source.isNotEmpty() }
            val parts = pieces.map { translateWhole(it.source, target, splitter) }
            if (parts.isNotEmpty()) {
                answer = Answer(
                    Joining(rules).join(pieces, parts.map { it.text }),
                    setOf(Flag.SOURCE_SPLIT) + parts.flatMap { it.flags },
                    parts.mapNotNull { it.quality }.minOrNull(),
                )
            }
        }
        cache[key] = answer
        return answer
    }

    /** Frees the model, after the current sentence. A translation that is not finished is cancelled. */
    override fun close() {
        if (!isClosed.compareAndSet(false, true)) return
        thread.executor.execute { model.close() }
        thread.close()
    }

    companion object {
        /** Name of the asset that `kformer export --android` writes. */
        const val MODEL = "translator.tflite"

        /**
         * Opens a file among the assets of the app. The app must keep it uncompressed, by
         * `androidResources { noCompress += "tflite" }` in its build file.
         *
         * @param threads Number of threads of the processor that a sentence is computed on.
         * @throws java.io.IOException It is no translator, or damaged.
         * @throws UnsupportedOperationException LiteRT has no library for the device's processor.
         */
        suspend fun fromAssets(context: Context, name: String = MODEL, threads: Int = 1): KformerTranslator =
            open(context, threads) { options ->
                val metadata = context.assets.openFd(name).use { asset ->
                    FileInputStream(asset.fileDescriptor).use { stream ->
                        val read = FileChannel.MapMode.READ_ONLY
                        Metadata.of(stream.channel.map(read, asset.startOffset, asset.declaredLength))
                    }
                }
                metadata to CompiledModel.create(context.assets, name, options)
            }

        /**
         * Opens a file outside of the app, such as a download, and compares it with its checksum. It
         * throws as [fromAssets] does.
         */
        suspend fun fromFile(context: Context, file: File, threads: Int = 1): KformerTranslator =
            open(context, threads) { options ->
                Metadata.ofWhole(file) to CompiledModel.create(file.path, options)
            }

        private suspend fun open(
            context: Context,
            threads: Int,
            load: (CompiledModel.Options) -> Pair<Metadata, CompiledModel>,
        ): KformerTranslator {
            val thread = Executors.newSingleThreadExecutor { Thread(it, "kformer") }.asCoroutineDispatcher()
            var opened: AutoCloseable? = null
            try {
                return withContext(thread) {
                    val rules = TextRules(context.assets.open(RULES).use { it.readBytes().decodeToString() })
                    val options = CompiledModel.Options(Accelerator.CPU)
                    // All loops of the file share one layout of the weights in memory.
                    options.cpuOptions =
                        CompiledModel.CpuOptions(numThreads = threads, xnnPackWeightCachePath = ":memory")
                    val (metadata, compiled) = load(options).also { opened = it.second }
                    val model = TranslatorModel(compiled, metadata, rules).also { opened = it }
                    // The first run is slow, and fails if anything is wrong.
                    model.translate("", metadata.targetLanguages.keys.firstOrNull())
                    KformerTranslator(thread, model, metadata, rules)
                }
            } catch (error: Throwable) { // Also if the coroutine was cancelled.
                thread.executor.execute { opened?.close() }
                thread.close()
                // An app that catches exceptions would end by this error, an `UnsatisfiedLinkError` at first.
                if (error is LinkageError) {
                    throw UnsupportedOperationException("LiteRT does not run on this device: $error", error)
                }
                throw error
            }
        }
    }
}
