/// An amount of data, in bytes.
public struct DataSize: Hashable, Comparable, Sendable {
    public var bytes: Int

    public init(bytes: Int) {
        self.bytes = bytes
    }

    /// Creates a size from a floating-point count of bytes; values that are not finite or out of range are clamped.
    public init(bytes: Double) {
        self.bytes = max(0, Int(clamping: bytes))
    }

    public static let zero = DataSize(bytes: 0)

    public var bits: Double { Double(bytes) * 8 }

    public static func < (left: DataSize, right: DataSize) -> Bool { left.bytes < right.bytes }
    public static func + (left: DataSize, right: DataSize) -> DataSize {
        let (sum, overflow) = left.bytes.addingReportingOverflow(right.bytes)
        return DataSize(bytes: overflow ? .max : sum)
    }
    public static func - (left: DataSize, right: DataSize) -> DataSize {
        let (difference, overflow) = left.bytes.subtractingReportingOverflow(right.bytes)
        return DataSize(bytes: overflow ? .min : difference)
    }
    public static func += (left: inout DataSize, right: DataSize) { left = left + right }
    public static func -= (left: inout DataSize, right: DataSize) { left = left - right }
}

extension DataSize: CustomStringConvertible {
    public var description: String { "\(bytes) B" }
}
