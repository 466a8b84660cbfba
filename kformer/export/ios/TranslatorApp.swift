import SwiftUI

@main
struct TranslatorApp: App {
  var body: some Scene {
    WindowGroup { ContentView() }
  }
}
