package android.view

open class View {
    var visibility = VISIBLE

    fun post(action: Runnable): Boolean = true.also { action.run() }

    companion object {
        const val VISIBLE = 0
    }
}
