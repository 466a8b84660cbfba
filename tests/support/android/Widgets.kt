package android.widget

import android.content.Context
import android.text.TextWatcher
import android.view.View

open class TextView : View() {
    var text: CharSequence = ""

    fun setText(resId: Int) = Unit

    fun addTextChangedListener(watcher: TextWatcher) = Unit
}

class EditText : TextView()

interface Adapter

interface SpinnerAdapter : Adapter

class ArrayAdapter<T>(context: Context, resource: Int, objects: List<T>) : SpinnerAdapter

abstract class AdapterView<T : Adapter> : View() {
    var onItemSelectedListener: OnItemSelectedListener? = null
    val selectedItemPosition = 0

    interface OnItemSelectedListener {
        fun onItemSelected(parent: AdapterView<*>?, view: View?, position: Int, id: Long)

        fun onNothingSelected(parent: AdapterView<*>?)
    }
}

class Spinner : AdapterView<SpinnerAdapter>() {
    var adapter: SpinnerAdapter? = null
}
