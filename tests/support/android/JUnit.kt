// A stand-in for JUnit: what the tests of the app use of it.
package org.junit

annotation class Test

object Assert {
    fun assertEquals(expected: Any?, actual: Any?) = check(expected == actual) { "$actual instead of $expected" }

    fun assertTrue(condition: Boolean) = check(condition)
}
