package android

object R {
    object layout {
        const val simple_spinner_dropdown_item = 1
    }
}
