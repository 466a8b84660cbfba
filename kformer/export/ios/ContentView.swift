import SwiftUI

/// Two text fields: the translation follows what is typed.
struct ContentView: View {
  private static let pause = Duration.milliseconds(150)  // Without typing, before a translation.

  @State private var translator: KformerTranslator?
  @State private var source = ""
  @State private var target: String?
  @State private var translation = ""
  @State private var status = "Loading …"

  /// What the translation depends on.
  private struct Request: Equatable {
    let source: String
    let target: String?
    let isOpen: Bool
  }

  var body: some View {
    VStack(alignment: .leading, spacing: 12) {
      if let languages = translator?.targetLanguages, !languages.isEmpty {
        Picker("Target language", selection: $target) {
          ForEach(languages, id: \.self) { code in
            Text(Locale.current.localizedString(forIdentifier: code) ?? code).tag(String?.some(code))
          }
        }
      }
      TextEditor(text: $source)
        .accessibilityLabel("Text")
        .overlay(RoundedRectangle(cornerRadius: 8).stroke(.secondary))
      ScrollView {
        Text(translation)
          .textSelection(.enabled)
          .frame(maxWidth: .infinity, alignment: .leading)
      }
      .accessibilityLabel("Translation")
      Text(status)
        .font(.footnote)
        .foregroundStyle(.secondary)
    }
    .padding()
    .task { await open() }
    // A newer text cancels the translation of the older one.
    .task(id: Request(source: source, target: target, isOpen: translator != nil)) {
      await translate()
    }
  }

  private func open() async {
    guard translator == nil else { return }
    do {
      let opened = try await KformerTranslator.open()
      target = opened.targetLanguages.first
      status = [opened.licence, opened.citation].compactMap { $0 }.joined(separator: "\n")
      translator = opened
    } catch {
      status = "It failed: \(error.localizedDescription)"
    }
  }

  private func translate() async {
    guard let translator else { return }
    do {
      try await Task.sleep(for: Self.pause)
      let found = try await translator.translate(source, into: target)
      translation = found.text
      status = found.flags.map(\.message).sorted().joined(separator: "\n")
    } catch is CancellationError {
      return
    } catch {
      status = "It failed: \(error.localizedDescription)"
    }
  }
}

extension Flag {
  /// A sentence for people.
  fileprivate var message: String {
    switch self {
    case .sourceSplit: "A sentence is too long: its clauses were translated one by one."
    case .sourceCut: "A sentence is too long: only its beginning was translated."
    case .translationCut: "The end of a translation did not fit."
    case .lengthLimit: "A translation reached its length limit without an end."
    case .loop: "A translation repeats itself over and over."
    case .lengthRatio: "A translation has an unlikely length."
    case .numberMissed: "A translation lacks a number of the text."
    case .addressMissed: "A translation lacks an address of the text."
    case .placeholderMissed: "A translation lacks a placeholder, a tag or code of the text."
    case .bracketMissed: "A translation lacks a bracket of the text."
    case .unknownCharacters: "The text has characters that the translator does not know."
    case .copied: "A sentence stayed the same, or nearly."
    case .unsure: "A translation is a guess."
    }
  }
}
