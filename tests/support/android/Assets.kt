package android.content.res

import java.io.File
import java.io.FileDescriptor
import java.io.FileInputStream
import java.io.InputStream

private const val BEFORE = 4_099L // Bytes before an uncompressed asset in the file of an app.

/** A stand-in for the assets of an app: a folder. */
class AssetManager(private val folder: File) {
    fun file(name: String): File = File(folder, name)

    fun open(fileName: String): InputStream = file(fileName).inputStream()

    fun openFd(fileName: String): AssetFileDescriptor {
        val app = File.createTempFile("app", ".apk").apply { deleteOnExit() }
        app.writeBytes(ByteArray(BEFORE.toInt()) + file(fileName).readBytes() + ByteArray(11))
        return AssetFileDescriptor(FileInputStream(app), BEFORE, file(fileName).length())
    }
}

class AssetFileDescriptor(
    private val stream: FileInputStream,
    val startOffset: Long,
    val declaredLength: Long,
) : AutoCloseable {
    val fileDescriptor: FileDescriptor get() = stream.fd

    override fun close() = stream.close()
}
