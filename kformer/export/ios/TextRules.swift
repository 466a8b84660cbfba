import Foundation
import JavaScriptCore

/// A part of a text: joined, the three fields are the part. `source` is translated; the others stay.
struct Piece {
  let before: String
  let source: String
  let after: String
}

/// A text as a model reads it.
struct Reading {
  let text: String
  fileprivate let value: JSValue
}

/// The rules of sentences, list marks, clauses, capitals and flags.
///
/// They are the JavaScript files of kformer's web page, which `kformer export` writes to the resource
/// `text_rules.txt` with the abbreviations of all languages; iOS runs them in JavaScriptCore.
final class TextRules {
  private let context: JSContext

  init() throws {
    guard let file = Bundle.main.url(forResource: "text_rules", withExtension: "txt"),
      let context = JSContext()
    else { throw KformerError("The app has no resource text_rules.txt.") }
    self.context = context
    context.evaluateScript(try String(contentsOf: file, encoding: .utf8))
    try checkNoException()
  }

  /// Returns the sentences of a text with the text around them: joined, they are the text.
  func pieces(of text: String, language: String?) throws -> [Piece] {
    let code = language.map { $0 as Any } ?? NSNull()
    return try pieces(call("piecesOfText", [text, code]))
  }

  /// Returns the two parts of a sentence that is too long for the file; none if it has none.
  func halves(of sentence: String) throws -> [Piece] {
    try pieces(call("piecesOfHalves", [sentence]))
  }

  /// Returns the text of pieces with as many translations in place of their sources.
  func joined(_ pieces: [Piece], _ translations: [String]) throws -> String {
    let rows = pieces.map { ["before": $0.before, "source": $0.source, "after": $0.after] }
    return try call("joined", [rows, translations]).toString()
  }

  /// Returns the flags of a translation, usually none.
  ///
  /// - Parameters:
  ///   - source: The ids of a sentence with its end id and padding.
  ///   - translation: The ids of its translation; padding follows the end id.
  ///   - isCut: Whether only the beginning of the sentence was read.
  func flags(
    source: [Int32], translation: [Int32], isCut: Bool, metadata: Metadata
  ) throws -> Set<Flag> {
    let special = ["padding": metadata.paddingId, "end": metadata.targetEndId]
    let arguments: [Any] = [source.map(Int.init), translation.map(Int.init), isCut, special]
    return Self.flags(try call("translationFlags", arguments))
  }

  /// Returns a text as the model reads it: in small letters, if it never saw capitals.
  func reading(of text: String, metadata: Metadata) throws -> Reading {
    var known: [String: Any] = [:]
    known["scripts"] = metadata.scripts
    known["reads_capitals"] = metadata.readsCapitals
    let value = try call("readingOf", [text, known])
    return Reading(text: value.forProperty("read").toString(), value: value)
  }

  /// Returns an answer of the model as it is given, with the flags that its text shows.
  func checked(_ answer: Answer, of text: String, as reading: Reading) throws -> Answer {
    var row: [String: Any] = ["text": answer.text, "flags": answer.flags.map(\.rawValue)]
    if let quality = answer.quality { row["quality"] = Double(quality) }
    let value = try call("checkedAnswer", [text, reading.value, row])
    return Answer(
      text: value.forProperty("text").toString(),
      flags: Self.flags(value.forProperty("flags")),
      quality: answer.quality == nil ? nil : Float(value.forProperty("quality").toDouble()))
  }

  private static func flags(_ names: JSValue) -> Set<Flag> {
    Set((names.toArray() as? [String] ?? []).compactMap(Flag.init(rawValue:)))
  }

  private func call(_ name: String, _ arguments: [Any]) throws -> JSValue {
    let found = context.objectForKeyedSubscript(name).call(withArguments: arguments)
    try checkNoException()
    guard let found else { throw KformerError("text_rules.txt has no function \(name).") }
    return found
  }

  private func pieces(_ value: JSValue) throws -> [Piece] {
    let rows = value.toArray() as? [[String: String]] ?? []
    return rows.map { row in
      Piece(
        before: row["before", default: ""], source: row["source", default: ""],
        after: row["after", default: ""])
    }
  }

  private func checkNoException() throws {
    guard let exception = context.exception else { return }
    context.exception = nil
    throw KformerError("text_rules.txt failed: \(exception)")
  }
}
