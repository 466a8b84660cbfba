// A stand-in for com.google.ai.edge.litert:litert, with the signatures of its functions. Python's LiteRT
// computes, in a process of its own.
package com.google.ai.edge.litert

import android.content.res.AssetManager
import kformer.Helper
import org.json.JSONArray
import org.json.JSONObject

/** The name of a file that is opened as on a device for whose processor LiteRT has no library. */
private const val OTHER_PROCESSOR = "other-processor.tflite"

enum class Accelerator { NONE, CPU, GPU, NPU }

class CompiledModel private constructor(private val path: String) : AutoCloseable {
    data class CpuOptions(
        val numThreads: Int? = null,
        val xnnPackFlags: Int? = null,
        val xnnPackWeightCachePath: String? = null,
    )

    class Options(internal val accelerators: Set<Accelerator>) {
        constructor(vararg accelerators: Accelerator) : this(setOf(*accelerators))

        var cpuOptions: CpuOptions? = null
    }

    private val runtime = Helper(System.getenv("RUNTIME").split(" ") + path)

    fun createInputBuffer(inputName: String, signature: String = ""): TensorBuffer = TensorBuffer(this)

    fun createOutputBuffer(outputName: String, signature: String = ""): TensorBuffer = TensorBuffer(this)

    fun run(inputs: Map<String, TensorBuffer>, outputs: Map<String, TensorBuffer>, signature: String = "") {
        check(!isClosed) { "The handle has been destroyed." }
        threads += Thread.currentThread().name
        runs += 1
        val request = JSONObject().put("signature", signature)
        request.put("inputs", JSONObject(inputs.mapValues { JSONArray(it.value.content) }))
        val found = runtime.ask(request).getJSONObject("outputs")
        check(found.keys().asSequence().toSet() == outputs.keys) { "Not the outputs: ${outputs.keys}." }
        for ((name, buffer) in outputs) {
            val values = found.getJSONArray(name)
            buffer.content = List(values.length()) { values.get(it) as Number }
        }
    }

    var isClosed = false
        private set

    override fun close() {
        threads += Thread.currentThread().name
        isClosed = true
        closed += 1
        runtime.close()
    }

    companion object {
        val threads = mutableSetOf<String>()
        var runs = 0
        var closed = 0

        fun create(assetManager: AssetManager, assetName: String, options: Options): CompiledModel =
            create(assetManager.file(assetName).path, options)

        fun create(filePath: String, options: Options): CompiledModel {
            if (filePath.endsWith("/$OTHER_PROCESSOR")) throw UnsatisfiedLinkError("no litert_jni")
            return CompiledModel(filePath)
        }
    }
}

class TensorBuffer internal constructor(private val model: CompiledModel) : AutoCloseable {
    internal var content = listOf<Number>()

    private fun <T> opened(value: T): T = value.also { check(!model.isClosed) { "The handle has been destroyed." } }

    fun writeInt8(data: ByteArray) = opened(Unit).also { content = data.map { it.toInt() and 0xff } }

    fun writeInt(data: IntArray) = opened(Unit).also { content = data.toList() }

    fun readInt8(): ByteArray = opened(content).map { it.toInt().toByte() }.toByteArray()

    fun readInt(): IntArray = opened(content).map { it.toInt() }.toIntArray()

    fun readFloat(): FloatArray = opened(content).map { it.toFloat() }.toFloatArray()

    override fun close() = Unit
}
