package androidx.test.ext.junit.runners

class AndroidJUnit4
