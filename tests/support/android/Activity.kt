package android.app

import android.content.Context
import android.os.Bundle
import android.view.View

open class Activity : Context() {
    protected open fun onCreate(savedInstanceState: Bundle?) = Unit

    protected open fun onDestroy() = Unit

    fun setContentView(layoutResID: Int) = Unit

    fun <T : View> findViewById(id: Int): T = error("There is no view $id.")
}
