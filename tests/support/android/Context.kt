// Stand-ins for what the app uses of Android, with the signatures of its functions.
package android.content

import android.content.res.AssetManager
import java.io.File

open class Context(val assets: AssetManager = AssetManager(File("."))) {
    val applicationContext: Context get() = this

    fun getString(resId: Int, vararg formatArgs: Any?): String = "$resId${formatArgs.toList()}"
}
