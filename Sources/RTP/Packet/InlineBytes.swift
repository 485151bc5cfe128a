/// A few bytes that need no memory of their own.
struct InlineBytes: Sendable {
    static let capacity = 24

    private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
    private(set) var count = 0

    /// Appends zeros. Returns true if there was room.
    mutating func append(zeros: Int) -> Bool {
        guard zeros >= 0, zeros <= Self.capacity - count else { return false }
        count += zeros
        return true
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    mutating func withUnsafeMutableBytes<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result {
        let count = count
        return Swift.withUnsafeMutableBytes(of: &words) { body(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
    }
}
