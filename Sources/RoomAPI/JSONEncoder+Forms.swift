package import Foundation

extension JSONEncoder {
    /// JSON for programs: in a line, its keys in a fixed order.
    package static var compact: JSONEncoder { make([]) }

    /// JSON for programs and people.
    package static var readable: JSONEncoder { make(.prettyPrinted) }

    private static func make(_ formatting: OutputFormatting) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        return encoder
    }
}
