package com.example.translator

import android.app.Activity
import android.os.Bundle
import android.text.Editable
import android.text.TextWatcher
import android.view.View
import android.widget.AdapterView
import android.widget.ArrayAdapter
import android.widget.EditText
import android.widget.Spinner
import android.widget.TextView
import java.util.Locale
import kformer.Flag
import kformer.KformerTranslator
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.MainScope
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch

private const val PAUSE = 150L // Milliseconds without typing after which the text is translated.

/** Two text fields: the translation follows what is typed. */
class MainActivity : Activity() {
    private val scope = MainScope()
    private var translator: KformerTranslator? = null
    private var job: Job? = null
    private lateinit var source: EditText
    private lateinit var translation: TextView
    private lateinit var status: TextView
    private lateinit var languages: Spinner

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        setContentView(R.layout.main)
        source = findViewById(R.id.source)
        translation = findViewById(R.id.translation)
        status = findViewById(R.id.status)
        languages = findViewById(R.id.languages)
        source.addTextChangedListener(
            object : TextWatcher {
                override fun beforeTextChanged(text: CharSequence?, start: Int, count: Int, after: Int) = Unit

                override fun onTextChanged(text: CharSequence?, start: Int, before: Int, count: Int) = Unit

                override fun afterTextChanged(text: Editable?) = translate()
            }
        )
        status.setText(R.string.loading)
        scope.launch {
            try {
                translator = KformerTranslator.fromAssets(applicationContext).also(::show)
            } catch (error: CancellationException) {
                throw error
            } catch (error: Exception) {
                status.text = getString(R.string.failed, error.message)
            }
        }
    }

    override fun onDestroy() {
        scope.cancel()
        translator?.close()
        super.onDestroy()
    }

    private fun show(opened: KformerTranslator) {
        status.text = listOfNotNull(opened.licence, opened.citation).joinToString("\n")
        if (opened.targetLanguages.isEmpty()) return translate()
        val names = opened.targetLanguages.map { Locale.forLanguageTag(it.replace('_', '-')).displayName }
        languages.adapter = ArrayAdapter(this, android.R.layout.simple_spinner_dropdown_item, names)
        languages.visibility = View.VISIBLE
        languages.onItemSelectedListener =
            object : AdapterView.OnItemSelectedListener {
                override fun onItemSelected(parent: AdapterView<*>?, view: View?, position: Int, id: Long) =
                    translate()

                override fun onNothingSelected(parent: AdapterView<*>?) = Unit
            }
    }

    /** Translates the text; a translation that still runs ends after its current sentence. */
    private fun translate() {
        val translator = translator ?: return
        val text = source.text.toString()
        val target = translator.targetLanguages.getOrNull(languages.selectedItemPosition)
        job?.cancel()
        job = scope.launch {
            delay(PAUSE)
            try {
                val found = translator.translate(text, target) { done, all ->
                    if (all > 1) status.post { status.text = getString(R.string.progress, done, all) }
                }
                translation.text = found.text
                status.text = found.flags.joinToString("\n") { getString(messageOf(it)) }
            } catch (error: CancellationException) {
                throw error
            } catch (error: Exception) {
                status.text = getString(R.string.failed, error.message)
            }
        }
    }
}

private fun messageOf(flag: Flag): Int =
    when (flag) {
        Flag.SOURCE_SPLIT -> R.string.source_split
        Flag.SOURCE_CUT -> R.string.source_cut
        Flag.TRANSLATION_CUT -> R.string.translation_cut
        Flag.LENGTH_LIMIT -> R.string.length_limit
        Flag.LOOP -> R.string.loop
        Flag.LENGTH_RATIO -> R.string.length_ratio
        Flag.NUMBER_MISSED -> R.string.number_missed
        Flag.ADDRESS_MISSED -> R.string.address_missed
        Flag.PLACEHOLDER_MISSED -> R.string.placeholder_missed
        Flag.BRACKET_MISSED -> R.string.bracket_missed
        Flag.UNKNOWN_CHARACTERS -> R.string.unknown_characters
        Flag.COPIED -> R.string.copied
        Flag.UNSURE -> R.string.unsure
    }
