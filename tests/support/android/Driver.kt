// Answers the requests of a test, a line of JSON each.
package kformer

import android.content.Context
import android.content.res.AssetManager
import androidx.test.platform.app.InstrumentationRegistry
import com.example.translator.TranslatorTest
import com.google.ai.edge.litert.CompiledModel
import java.io.File
import kotlin.system.exitProcess
import kotlin.system.measureTimeMillis
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.json.JSONArray
import org.json.JSONObject

private lateinit var rules: TextRules
private lateinit var context: Context
private lateinit var translator: KformerTranslator

fun main(): Unit = runBlocking {
    for (line in generateSequence(::readlnOrNull)) {
        val request = JSONObject(line)
        val answer = try {
            answerTo(request)
        } catch (error: Exception) {
            "${error::class.simpleName}: ${error.message}"
        }
        println(JSONObject().put("answer", answer))
    }
    exitProcess(0) // A translator that is open keeps its thread.
}

private suspend fun answerTo(request: JSONObject): Any? {
    fun text(name: String) = if (request.isNull(name)) null else request.getString(name)
    return when (val what = request.getString("do")) {
        "rules" -> {
            rules = TextRules(File(request.getString("file")).readText())
            null
        }
        "piecesOf" -> rows(Sentences(rules, text("language")).piecesOf(request.getString("text")))
        "halves" -> Sentences(rules, null).halves(request.getString("text"))?.let(::rows)
        "pieceOf" -> {
            val marks = Marks(rules, rules.abbreviationsOf(request.getString("language")))
            row(marks.pieceOf(request.getString("text"), request.get("first") as Boolean))
        }
        "goesOn" ->
            rules.abbreviationsOf(request.getString("language"))
                .goesOn(request.getString("text"), request.getString("rest"))
        "join" -> {
            val texts = request.getJSONArray("translations")
            val pieces = Sentences(rules, text("language")).piecesOf(request.getString("text"))
            Joining(rules).join(pieces, List(pieces.size) { texts.getString(it % texts.length()) })
        }
        "checked" -> checked(request)
        "seconds" -> {
            val text = request.getString("part").repeat(request.getInt("times")) + " 2017"
            measureTimeMillis { SureChecks(rules).flags(text, "-$text") } / 1e3
        }
        "open" -> {
            context = Context(AssetManager(File(request.getString("assets"))))
            val file = text("file")
            translator =
                if (file == null) KformerTranslator.fromAssets(context)
                else KformerTranslator.fromFile(context, File(file))
            with(translator) {
                JSONArray(listOf(sourceLanguage, targetLanguage, JSONArray(targetLanguages), licence, citation))
            }
        }
        "translate" -> {
            val found = translator.translate(request.getString("text"), text("target"))
            val sentences = found.sentences.map { JSONArray(listOf(it.source, it.text, names(it.flags), it.quality)) }
            JSONArray(listOf(found.text, names(found.flags), JSONArray(sentences)))
        }
        "cancel" -> cancelled(request.getString("text"))
        "test" -> {
            InstrumentationRegistry.targetContext = Context(AssetManager(File(request.getString("assets"))))
            with(TranslatorTest()) {
                theFileCarriesExamples()
                theDeviceTranslatesAsTheMachineThatExportedTheFile()
            }
            "passed"
        }
        "close" -> {
            translator.close()
            while (CompiledModel.closed == 0) Thread.sleep(10)
            JSONArray(CompiledModel.threads.map { it })
        }
        else -> error("No such request: $what")
    }
}

/** Returns how a model reads a text, and what is made of its answer. */
private fun checked(request: JSONObject): JSONArray {
    val about = request.getJSONObject("about")
    val scripts = about.optJSONArray("scripts")?.let { names -> List(names.length()) { names.getString(it) }.toSet() }
    val lowersCapitals = !about.isNull("reads_capitals") && about.get("reads_capitals") == false
    val readings = Readings(rules, scripts, lowersCapitals)
    val answer = request.getJSONObject("answer")
    val names = answer.getJSONArray("flags")
    val flags = List(names.length()) { Flag.valueOf(names.getString(it).uppercase().replace(' ', '_')) }.toSet()
    val quality = if (answer.has("quality")) answer.getDouble("quality").toFloat() else null
    val reading = readings.of(request.getString("text"))
    val checked = readings.checked(reading, Answer(answer.getString("text"), flags, quality))
    return JSONArray(listOf(reading.text, checked.text, names(checked.flags), checked.quality))
}

/** Returns how many sentences were translated until a translation ended that was cancelled at its second. */
private suspend fun cancelled(text: String): Int = runBlocking {
    val before = CompiledModel.runs
    var stop: () -> Unit = {}
    val job = launch(Dispatchers.Default) {
        translator.translate(text) { done, _ -> if (done == 2) stop() }
        error("It was not cancelled.")
    }
    stop = { job.cancel(CancellationException("Typed on")) }
    job.join()
    CompiledModel.runs - before
}

private fun names(flags: Set<Flag>) = JSONArray(flags.map { it.name.lowercase().replace('_', ' ') })

private fun rows(pieces: List<Piece>) = JSONArray(pieces.map(::row))

private fun row(piece: Piece) = JSONArray(listOf(piece.before, piece.source, piece.after))
