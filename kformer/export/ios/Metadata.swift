import CryptoKit
import Foundation

/// The metadata of a `.tflite` file: `kformer.json` of the ZIP archive at its end.
struct Metadata {
  private static let newestFormat = 2

  let maxSourceBytes: Int
  let paddingId: Int
  let targetEndId: Int
  let sourceLanguage: String?
  let targetLanguage: String?
  let licence: String?
  let citation: String?
  /// The id of each target language by its code; empty if the model has no choice.
  let targetLanguages: [String: Int32]
  /// The names of the scripts whose letters the model can spell, such as "Latin"; nil for all.
  let scripts: [String]?
  /// Whether the model saw sentences in capitals; nil if it is not known.
  let readsCapitals: Bool?
  /// The quality below which a translation is unsure; nil for a file without an estimate.
  let qualityThreshold: Double?

  /// - Parameter isChecked: Whether the model is compared with the SHA-256 in its metadata.
  init(of file: URL, isChecked: Bool) throws {
    let bytes = try Data(contentsOf: file, options: .mappedIfSafe)
    let archive = try Archive(at: bytes)
    let parsed = try JSONSerialization.jsonObject(with: archive.content(of: "kformer.json"))
    let content = parsed as? [String: Any] ?? [:]
    let format = content["format"] as? Int
    guard format == Self.newestFormat else {
      throw KformerError(
        "This app reads .tflite files of format \(Self.newestFormat). "
          + "Received: \(format.map(String.init) ?? "none").")
    }
    let kind = content["kind"] as? String ?? "translator"
    guard kind == "translator",
      let maxSourceBytes = content["max_source_bytes"] as? Int,
      let paddingId = content["padding_id"] as? Int,
      let endId = content["end_id"] as? Int
    else { throw KformerError("A translator is needed. Received: a \(kind).") }
    if isChecked, let expected = content["sha256"] as? String,
      let size = content["model_bytes"] as? Int
    {
      let digest = SHA256.hash(data: bytes.prefix(size))
      guard digest.map({ String(format: "%02x", $0) }).joined() == expected else {
        throw KformerError("The .tflite file was damaged or changed: \(file.lastPathComponent).")
      }
    }
    self.maxSourceBytes = maxSourceBytes
    self.paddingId = paddingId
    targetEndId = content["target_end_id"] as? Int ?? endId
    sourceLanguage = content["source_language"] as? String
    targetLanguage = content["target_language"] as? String
    licence = content["licence"] as? String
    citation = content["citation"] as? String
    let languages = content["target_languages"] as? [String: Int] ?? [:]
    targetLanguages = languages.mapValues(Int32.init)
    scripts = content["scripts"] as? [String]
    readsCapitals = content["reads_capitals"] as? Bool
    let estimate = content["quality_estimate"] as? [String: Any]
    qualityThreshold = estimate?["threshold"] as? Double
  }
}

/// A ZIP archive of uncompressed files at the end of other content.
private struct Archive {
  private static let end = 0x0605_4b50  // Signature of the record that ends the archive.
  private static let listed = 0x0201_4b50  // Signature of a file in the central directory.

  private let bytes: Data
  private let last: Int  // Place of the record that ends it.

  init(at bytes: Data) throws {
    self.bytes = bytes
    let latest = bytes.count - 22
    let places = stride(from: latest, through: max(0, latest - 0xffff), by: -1)
    guard let last = places.first(where: { Self.number(in: bytes, at: $0, count: 4) == Self.end })
    else {
      throw KformerError("The .tflite file is not whole: its end, with the metadata, is missing.")
    }
    self.last = last
  }

  func content(of name: String) throws -> Data {
    // Offsets count from the archive's start, which follows LiteRT's part of any size.
    var place = last - number(at: last + 12, count: 4)
    let shift = place - number(at: last + 16, count: 4)
    for _ in 0..<number(at: last + 10, count: 2) {
      let lengths = [28, 30, 32].map { number(at: place + $0, count: 2) }
      let isStored = number(at: place + 10, count: 2) == 0
      guard number(at: place, count: 4) == Self.listed, isStored else {
        throw KformerError("The archive at the end of the .tflite file is broken.")
      }
      if bytes[(place + 46)..<(place + 46 + lengths[0])] == Data(name.utf8) {
        let local = number(at: place + 42, count: 4) + shift
        let start = local + 30 + number(at: local + 26, count: 2) + number(at: local + 28, count: 2)
        return bytes[start..<(start + number(at: place + 20, count: 4))]
      }
      place += 46 + lengths.reduce(0, +)
    }
    throw KformerError("The .tflite file has no metadata of a translator from text to text.")
  }

  private func number(at place: Int, count: Int) -> Int {
    Self.number(in: bytes, at: place, count: count)
  }

  private static func number(in bytes: Data, at place: Int, count: Int) -> Int {
    (0..<count).reversed().reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
  }
}
