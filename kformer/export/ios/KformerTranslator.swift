import Dispatch
import Foundation

/// What may be wrong with a translation. Most have no flag.
public enum Flag: String, Sendable {
  /// The sentence was too long for the file, so its clauses were translated one by one.
  case sourceSplit = "source split"
  /// Only the beginning of the source was translated.
  case sourceCut = "source cut"
  /// The end of the translation did not fit.
  case translationCut = "translation cut"
  /// The translation reached its length limit without an end.
  case lengthLimit = "length limit"
  /// The translation repeats itself over and over.
  case loop = "loop"
  /// The translation has an unlikely length.
  case lengthRatio = "length ratio"
  /// A number of the source is missing, or an address, a placeholder or a bracket.
  case numberMissed = "number missed"
  case addressMissed = "address missed"
  case placeholderMissed = "placeholder missed"
  case bracketMissed = "bracket missed"
  /// Emoji or letters of another script are missing, or the file cannot spell any letter of the source.
  case unknownCharacters = "unknown characters"
  /// The sentence is its own translation, or nearly.
  case copied = "copied"
  /// The estimated quality is low; only of files with a quality estimate.
  case unsure = "unsure"
}

/// The translation of a sentence.
public struct SentenceTranslation: Sendable {
  /// The sentence, without white space and list marks.
  public let source: String
  public let text: String
  /// Its faults, usually none.
  public let flags: Set<Flag>
  /// An estimate from 0 to 1; nil for a file without an estimate.
  public let quality: Float?
}

/// The translation of a text.
public struct Translation: Sendable {
  /// With line breaks, indents, list marks and all that has no letter as in the source.
  public let text: String
  /// The flags of all its sentences.
  public let flags: Set<Flag>
  public let sentences: [SentenceTranslation]
}

/// An error of a translator, with a message for people.
public struct KformerError: LocalizedError, Sendable {
  public let errorDescription: String?

  init(_ message: String) { errorDescription = message }
}

/// Translates texts with a `.tflite` file that `kformer export` wrote.
///
/// It runs the file on a queue of its own, so the main thread never waits. Cancelling the task of
/// `translate` ends it after the current sentence. The model is freed with the translator.
public actor KformerTranslator {
  private static let cachedSentences = 1_000

  /// The code of the language of the texts, such as "de"; nil if the file does not name it.
  public nonisolated let sourceLanguage: String?
  /// The code of the language of the translations, if there is only one and the file names it.
  public nonisolated let targetLanguage: String?
  /// The codes of the languages to choose from; empty if the file has no choice.
  public nonisolated let targetLanguages: [String]
  /// The licence of the model, and how to cite it; nil if the file does not name them.
  public nonisolated let licence: String?
  public nonisolated let citation: String?

  private nonisolated let queue: DispatchSerialQueue
  private let model: TranslatorModel
  private let rules: TextRules
  private var cache: [String: Answer] = [:]

  public nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

  /// Opens a resource of the app.
  public static func open(resource: String = "translator", threads: Int = 1) async throws
    -> KformerTranslator
  {
    guard let file = Bundle.main.url(forResource: resource, withExtension: "tflite") else {
      throw KformerError("The app has no resource \(resource).tflite.")
    }
    return try await open(file: file, isChecked: false, threads: threads)
  }

  /// Opens a file, such as a download.
  ///
  /// - Parameters:
  ///   - isChecked: Whether the file is compared with the SHA-256 in its metadata.
  ///   - threads: Number of threads of the processor that a sentence is computed on.
  public static func open(file: URL, isChecked: Bool = true, threads: Int = 1) async throws
    -> KformerTranslator
  {
    try await Task.detached(priority: .userInitiated) {
      try KformerTranslator(file: file, isChecked: isChecked, threads: threads)
    }.value
  }

  private init(file: URL, isChecked: Bool, threads: Int) throws {
    let metadata = try Metadata(of: file, isChecked: isChecked)
    sourceLanguage = metadata.sourceLanguage
    targetLanguage = metadata.targetLanguage
    targetLanguages = metadata.targetLanguages.keys.sorted()
    licence = metadata.licence
    citation = metadata.citation
    queue = DispatchSerialQueue(label: "kformer", qos: .userInitiated)
    let rules = try TextRules()
    let model = try TranslatorModel(file: file, metadata: metadata, threads: threads)
    // The first run is slow, and fails if anything is wrong.
    _ = try model.translate("", into: metadata.targetLanguages.keys.first, rules: rules)
    self.rules = rules
    self.model = model
  }

  /// Translates a text of any length, sentence by sentence. A sentence that is too long for the file
  /// is split at clauses.
  ///
  /// - Parameters:
  ///   - target: One of `targetLanguages`, if there are any.
  ///   - source: The code of the language of the text, for the ends of its sentences; by default
  ///     `sourceLanguage`.
  ///   - progress: Called with the numbers of finished and of all sentences.
  public func translate(
    _ text: String,
    into target: String? = nil,
    from source: String? = nil,
    progress: (@Sendable (_ done: Int, _ all: Int) -> Void)? = nil
  ) throws -> Translation {
    let isKnown = target.map { targetLanguages.contains($0) } ?? targetLanguages.isEmpty
    guard isKnown else {
      throw KformerError(
        "The target language must be one of \(targetLanguages). Received: \(target ?? "none").")
    }
    let pieces = try rules.pieces(of: text, language: source ?? sourceLanguage)
    let sources = pieces.map(\.source).filter { !$0.isEmpty }
    var sentences: [SentenceTranslation] = []
    for sentence in sources {
      let answer = try translateWhole(sentence, into: target)
      sentences.append(
        SentenceTranslation(
          source: sentence, text: answer.text, flags: answer.flags, quality: answer.quality))
      progress?(sentences.count, sources.count)
    }
    let texts = sentences.isEmpty ? pieces.map { _ in "" } : sentences.map(\.text)
    return Translation(
      text: try rules.joined(pieces, texts),
      flags: sentences.reduce(into: Set<Flag>()) { $0.formUnion($1.flags) },
      sentences: sentences)
  }

  /// Translates a sentence. What does not fit the file is halved at a clause, until it does.
  private func translateWhole(_ sentence: String, into target: String?) throws -> Answer {
    let key = "\(target ?? "")\u{0}\(sentence)"
    if let answer = cache[key] { return answer }
    try Task.checkCancellation()
    var answer = try model.translate(sentence, into: target, rules: rules)
    if !answer.flags.isDisjoint(with: [.sourceCut, .translationCut]) {
      let pieces = try rules.halves(of: sentence).filter { !$0.source.isEmpty }
      let parts = try pieces.map { try translateWhole($0.source, into: target) }
      if !parts.isEmpty {
        answer = Answer(
          text: try rules.joined(pieces, parts.map(\.text)),
          flags: parts.reduce(into: Set([Flag.sourceSplit])) { $0.formUnion($1.flags) },
          quality: parts.compactMap(\.quality).min())
      }
    }
    if cache.count >= Self.cachedSentences { cache.removeAll() }
    cache[key] = answer
    return answer
  }
}
