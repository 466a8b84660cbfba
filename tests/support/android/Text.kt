package android.text

interface Editable : CharSequence

interface TextWatcher {
    fun beforeTextChanged(text: CharSequence?, start: Int, count: Int, after: Int)

    fun onTextChanged(text: CharSequence?, start: Int, before: Int, count: Int)

    fun afterTextChanged(text: Editable?)
}
