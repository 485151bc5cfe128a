/// The bytes of a file that a request asks for (RFC 9110 14.2).
enum ByteRange: Equatable {
    case whole
    case part(ClosedRange<Int>)
    /// The file has none of these.
    case unsatisfiable

    /// - Parameters:
    ///   - field: The request's `Range`. Several ranges, other units and malformed fields ask for the whole file.
    ///   - size: The file's, in bytes.
    init(_ field: String?, ofSize size: Int) {
        self = .whole
        guard let field, field.lowercased().hasPrefix("bytes=") else { return }
        let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]) else { return }
        switch (first, last) {
        case (nil, nil): return
        case (let first?, let last):
            if let last, last < first { return }
            self = first < size ? .part(first...min(last ?? size - 1, size - 1)) : .unsatisfiable
        case (nil, let count?):
            self = count > 0 && size > 0 ? .part(max(0, size - count)...(size - 1)) : .unsatisfiable
        }
    }

    /// Reads a number of bytes, and saturates. An empty text is `.some(nil)`, anything else than a number nil.
    private static func number(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return .some(Int(text) ?? .max)
    }
}
