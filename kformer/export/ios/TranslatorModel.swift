import Foundation
import TensorFlowLite

/// The answer of one run of the file.
struct Answer: Sendable {
  let text: String
  let flags: Set<Flag>
  let quality: Float?
}

/// Runs a `.tflite` file. All calls must be from one thread at a time.
final class TranslatorModel {
  private static let signature = "translate"
  private static let sourceCut: Int32 = 1  // Bits of the output `truncated`.
  private static let translationCut: Int32 = 2

  private let metadata: Metadata
  private let runner: SignatureRunner

  init(file: URL, metadata: Metadata, threads: Int) throws {
    var options = Interpreter.Options()
    options.threadCount = threads
    options.isXNNPackEnabled = true  // Off by default; without it int8 is slower and rounds otherwise.
    let interpreter = try Interpreter(modelPath: file.path, options: options)
    runner = try interpreter.signatureRunner(with: Self.signature)  // It keeps the interpreter.
    self.metadata = metadata
  }

  /// Translates a sentence into one of the file's languages, or into its only one for nil.
  func translate(_ sentence: String, into language: String?, rules: TextRules) throws -> Answer {
    let reading = try rules.reading(of: sentence, metadata: metadata)
    let (bytes, isOver) = bytes(of: reading.text)
    var inputs = ["source": bytes]
    if let language, var id = metadata.targetLanguages[language] {
      inputs["target_language"] = Data(bytes: &id, count: MemoryLayout<Int32>.size)
    }
    try runner.invoke(with: inputs)
    let truncated = try numbers("truncated", of: Int32.self)[0]
    let isCut = isOver || truncated & Self.sourceCut != 0
    var flags = try rules.flags(
      source: numbers("source_ids", of: Int32.self),
      translation: numbers("ids", of: Int32.self),
      isCut: isCut,
      metadata: metadata)
    if truncated & Self.translationCut != 0 { flags.insert(.translationCut) }
    var quality: Float?
    if let threshold = metadata.qualityThreshold {
      quality = try numbers("quality", of: Float.self)[0]
      if let quality, Double(quality) < threshold { flags.insert(.unsure) }
    }
    let translation = try runner.output(named: "translation").data.prefix { $0 != 0 }
    let text = String(decoding: translation, as: UTF8.self)
    let answer = Answer(text: text, flags: flags, quality: quality)
    let checked = try rules.checked(answer, of: sentence, as: reading)
    // A text has line breaks only between sentences.
    let lines = checked.text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    return Answer(
      text: lines.joined(separator: " "), flags: checked.flags, quality: checked.quality)
  }

  /// Returns as many whole characters as fit, then zeros; and whether that is not all.
  private func bytes(of sentence: String) -> (Data, Bool) {
    var source = Data(capacity: metadata.maxSourceBytes)
    var isOver = false
    for scalar in sentence.unicodeScalars {
      let character = String(scalar).utf8
      if source.count + character.count > metadata.maxSourceBytes {
        isOver = true
        break
      }
      source.append(contentsOf: character)
    }
    source.append(Data(count: metadata.maxSourceBytes - source.count))
    return (source, isOver)
  }

  private func numbers<Number>(_ name: String, of type: Number.Type) throws -> [Number] {
    try runner.output(named: name).data.withUnsafeBytes { Array($0.bindMemory(to: type)) }
  }
}
