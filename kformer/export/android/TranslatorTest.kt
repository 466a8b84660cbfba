package com.example.translator

import android.content.Context
import androidx.test.ext.junit.runners.AndroidJUnit4
import androidx.test.platform.app.InstrumentationRegistry
import java.io.FileInputStream
import java.nio.channels.FileChannel
import kformer.KformerTranslator
import kformer.inArchive
import kotlinx.coroutines.runBlocking
import org.json.JSONArray
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test
import org.junit.runner.RunWith

/** Runs on a device: `gradle :app:connectedAndroidTest`. */
@RunWith(AndroidJUnit4::class)
class TranslatorTest {
    private val context: Context get() = InstrumentationRegistry.getInstrumentation().targetContext

    @Test
    fun theDeviceTranslatesAsTheMachineThatExportedTheFile() = runBlocking {
        val examples = examples()
        val translator = KformerTranslator.fromAssets(context)
        for (index in 0 until examples.length()) {
            val example = examples.getJSONObject(index)
            val target = if (example.has("target_language")) example.getString("target_language") else null
            val translation = translator.translate(example.getString("text"), target)
            // An example is one run of the file, so those of several sentences are not compared.
            if (translation.sentences.size == 1) {
                assertEquals(example.getString("translation"), translation.text)
            }
        }
        translator.close()
    }

    @Test
    fun theFileCarriesExamples() = assertTrue(examples().length() > 0)

    /** Returns the texts in the file with the translations that kformer got from it. */
    private fun examples(): JSONArray = context.assets.openFd(KformerTranslator.MODEL).use { asset ->
        FileInputStream(asset.fileDescriptor).use { stream ->
            val read = FileChannel.MapMode.READ_ONLY
            val bytes = stream.channel.map(read, asset.startOffset, asset.declaredLength)
            JSONArray(inArchive(bytes, "test_vectors.json"))
        }
    }
}
