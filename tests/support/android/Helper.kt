package kformer

import java.io.BufferedReader
import java.io.Writer
import org.json.JSONObject

/** A process that answers each line of JSON with one. */
class Helper(command: List<String>) : AutoCloseable {
    private val process = ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    private val input: Writer = process.outputStream.writer()
    private val output: BufferedReader = process.inputStream.bufferedReader()

    fun ask(request: JSONObject): JSONObject {
        input.write("$request\n")
        input.flush()
        return JSONObject(checkNotNull(output.readLine()) { "The process ended: ${process.info()}" })
    }

    override fun close() {
        input.close()
        process.waitFor()
    }
}
