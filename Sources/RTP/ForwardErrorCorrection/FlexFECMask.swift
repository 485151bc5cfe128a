/// Which packets a FlexFEC packet protects: bit `n` stands for the sequence number `n` above the packet's base.
///
/// On the wire the mask is cut into parts of 15, 31 and 63 bits, each behind a bit that says whether it is the last one
/// (draft-ietf-payload-flexible-fec-scheme-03, section 4.2.2.1; browsers write the bit set in the last part, as the
/// draft's figure 11 has it).
public struct FlexFECMask: Hashable, Sendable {
    /// How many sequence numbers a mask spans at most.
    public static let maximumSpan = 109

    private var bits: UInt128

    /// A mask of no packets.
    public init() { bits = 0 }

    /// Whether no packet is protected.
    public var isEmpty: Bool { bits == 0 }

    /// How many packets are protected.
    public var count: Int { bits.nonzeroBitCount }

    /// One more than the highest offset; zero for no packets.
    public var span: Int { UInt128.bitWidth - bits.leadingZeroBitCount }

    /// The lowest offset; nil where there is none.
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
