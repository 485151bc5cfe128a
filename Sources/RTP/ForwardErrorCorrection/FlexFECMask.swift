/// The packets that a FlexFEC packet protects: bit `n` stands for the sequence number `n` above the packet's base.
///
/// On the wire the mask is divided into parts of 15, 31 and 63 bits, each after a bit that marks the last part
/// (draft-ietf-payload-flexible-fec-scheme-03, section 4.2.2.1; browsers set the bit in the last part, as in the
/// draft's figure 11).
public struct FlexFECMask: Hashable, Sendable {
    /// The largest number of sequence numbers in a mask.
    public static let maximumSpan = 109

    private var bits: UInt128

    /// A mask of no packets.
    public init() { bits = 0 }

    /// True if no packet is protected.
    public var isEmpty: Bool { bits == 0 }

    /// The number of protected packets.
    public var count: Int { bits.nonzeroBitCount }

    /// One more than the highest offset; zero for no packets.
    public var span: Int { UInt128.bitWidth - bits.leadingZeroBitCount }

    /// The lowest offset; nil if there is none.
    public var first: Int? { isEmpty ? nil : bits.trailingZeroBitCount }

    public func contains(_ offset: Int) -> Bool {
        (0..<Self.maximumSpan).contains(offset) && bits >> offset & 1 == 1
    }

    /// Adds an offset; one that no mask can hold is left out.
    public mutating func insert(_ offset: Int) {
        guard (0..<Self.maximumSpan).contains(offset) else { return }
        bits |= 1 << offset
    }

    public mutating func remove(_ offset: Int) {
        guard (0..<Self.maximumSpan).contains(offset) else { return }
        bits &= ~(1 << offset)
    }

}

/// The offsets, in ascending order.
extension FlexFECMask: Sequence {
    public struct Iterator: IteratorProtocol {
        fileprivate var rest: UInt128

        public mutating func next() -> Int? {
            guard rest != 0 else { return nil }
            defer { rest &= rest - 1 }
            return rest.trailingZeroBitCount
        }
    }

    public func makeIterator() -> Iterator { Iterator(rest: bits) }
}
