public import MediaCore
public import NIOCore

/// Reads NAL units from a byte stream (H.264 annex B) that comes in pieces cut anywhere.
///
/// Append a piece, take units until there is none, and so on; at the end of the stream call `finish` until it returns
/// nil. A unit is known to be whole only when the next start code is there.
public struct AnnexBReader: Sendable {
    private var buffer = ByteBuffer()
    /// Bytes of `buffer` that have been searched for a start code.
    private var scanned = 0
    /// True if `buffer` begins within a NAL unit, right after its start code.
    private var isInsideUnit = false
    private var isDiscarding = false
    private let maximumUnitSize: DataSize

    /// The number of NAL units that were left out because they exceeded the size limit.
    public private(set) var oversizedUnitCount = 0

    /// Creates a reader that leaves out NAL units of more than `maximumUnitSize`.
    public init(maximumUnitSize: DataSize = DataSize(bytes: 16 << 20)) {
        self.maximumUnitSize = maximumUnitSize
    }

    /// Takes the next piece of the stream.
    public mutating func append(_ piece: ByteBuffer) {
        // Moving less than was read costs no more than reading it did, and keeps the memory to the unread twice over.
        if buffer.readerIndex > buffer.readableBytes { buffer.discardReadBytes() }
        buffer.writeImmutableBuffer(piece)
    }

    /// The next NAL unit that is whole, in memory of its own; nil when more of the stream is needed.
    public mutating func nextNALUnit() -> NALUnit? {
        while let startCode = findStartCode() {
            let unit = takeUnit(upTo: startCode)
            buffer.moveReaderIndex(forwardBy: 3)
            isInsideUnit = true
            if let unit { return unit }
        }
        boundMemory()
        return nil
    }

    /// Ends the stream and returns the units that remain, one a call; nil when there is none left.
    public mutating func finish() -> NALUnit? {
        if let unit = nextNALUnit() { return unit }
        let unit = takeUnit(upTo: buffer.readableBytes)
        buffer.clear()
        scanned = 0
        isInsideUnit = false
        return unit
    }

    private mutating func findStartCode() -> Int? {
        let found = buffer.withUnsafeReadableBytes { StartCode.firstOffset(in: $0, from: scanned) }
        // A start code may begin in the last two bytes.
        scanned = found ?? max(scanned, buffer.readableBytes - 2)
        return found
    }

    /// Reads `count` bytes off the buffer and returns them if they are a unit.
    private mutating func takeUnit(upTo count: Int) -> NALUnit? {
        defer {
            buffer.moveReaderIndex(forwardBy: count)
            scanned = 0
            isDiscarding = false
        }
        guard isInsideUnit, !isDiscarding else { return nil }
        let end = buffer.withUnsafeReadableBytes { StartCode.trimmingZeros(in: $0, from: 0, to: count) }
        guard end <= maximumUnitSize.bytes else {
            oversizedUnitCount += 1
            return nil
        }
        // A copy, so that a small unit does not keep the whole stream's memory.
        return NALUnit(ByteBuffer(bytes: buffer.readableBytesView.prefix(end)))
    }

    /// Removes bytes that cannot become a unit: those before the first start code, and those of an oversized unit.
    private mutating func boundMemory() {
        if isInsideUnit && !isDiscarding && scanned > maximumUnitSize.bytes {
            isDiscarding = true
            oversizedUnitCount += 1
        }
        guard !isInsideUnit || isDiscarding, scanned > 0 else { return }
        buffer.moveReaderIndex(forwardBy: scanned)
        buffer.discardReadBytes()
        scanned = 0
    }
}
