package androidx.test.platform.app

import android.content.Context

/** A stand-in for the device that a test of the app runs on. */
class Instrumentation(val targetContext: Context)

object InstrumentationRegistry {
    var targetContext = Context()

    fun getInstrumentation() = Instrumentation(targetContext)
}
