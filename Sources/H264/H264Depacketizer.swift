public import MediaCore
public import NIOCore

/// Makes access units from RTP payloads (RFC 6184, packetization modes 0 and 1).
///
/// Payloads come in sequence order; a jump in their numbers means loss. An access unit ends at the marker, or at a new
/// timestamp: of a sender that sets the marker at each slice, only there. After a loss in a unit its whole NAL units
/// are kept, and it is marked damaged.
public struct H264Depacketizer: Sendable {
    /// The limits of memory that a sender may use.
    public struct Limits: Sendable {
        /// The largest size of an access unit; further bytes are dropped and the unit is marked damaged.
        public var maximumAccessUnitSize = DataSize(bytes: 4 << 20)
        /// The most NAL units of an access unit; likewise.
        public var maximumNALUnitCount = 4096

        public init() {}
    }

    /// A NAL unit of which fragments have come.
    private struct Fragment {
        var bytes: ByteBuffer
        var header: UInt8
    }

    private let limits: Limits
    private var lastSequence: Int64?
    /// The access unit that is being put together; nil before its first NAL unit or fragment.
    private var unit: AccessUnit?
    private var unitSize = 0
    private var fragment: Fragment?
    /// True if the next unit may lack its head: the stream has just begun, or packets right before it were lost.
    private var isHeadInDoubt = false
    private var isAtStart = true
    /// True if the current unit may lack its head, and no later part is known to be missing.
    private var currentHeadIsInDoubt = false
    /// The timestamp of the last unit that a marker ended.
    private var markedTimestamp: UInt32?
    /// True if the sender sets the marker at each slice: only a new timestamp ends its units, or the caller.
    private var marksSlices = false
    /// True if the last payload had the marker.
    private var isMarked = false

    /// The number of payloads that could not be parsed, or that violated RFC 6184. Their access units are damaged.
    public private(set) var malformedPayloadCount = 0
    /// The number of payloads that were dropped because their access unit had reached a limit.
    public private(set) var oversizePayloadCount = 0

    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Takes the next payload.
    ///
    /// - Parameters:
    ///   - payload: The RTP payload; an empty one (padding only) counts only for its sequence number.
    ///   - sequence: The unwrapped sequence number; a payload that is not above the last one is ignored.
    /// - Returns: The access units that this completes: none, one, or two if the unit before had no marker.
    public mutating func append(payload: ByteBuffer, timestamp: UInt32, marker: Bool, sequence: Int64) -> [AccessUnit] {
        if let lastSequence {
            guard sequence > lastSequence else { return [] }
            if lastSequence &+ 1 != sequence { recordLoss() }
        }
        lastSequence = sequence
        guard payload.readableBytes > 0 else { return [] }

        var finished: [AccessUnit] = []
        if let unit, unit.rtpTimestamp != timestamp, let previous = closeUnit() { finished.append(previous) }
        openUnit(timestamp: timestamp)
        take(payload)
        isMarked = marker
        guard marker, !marksSlices else { return finished }
        markedTimestamp = timestamp
        if let current = closeUnit() { finished.append(current) }
        return finished
    }

    /// True if the unfinished access unit may be whole: its sender sets the marker at each slice, and nothing tells yet
    /// whether another slice comes.
    public var mayBeWhole: Bool { marksSlices && isMarked && unit != nil }

    /// Returns the unfinished access unit, of which no further slice is expected. One that comes all the same is a
    /// damaged unit by itself.
    public mutating func takeUnit() -> AccessUnit? {
        markedTimestamp = unit?.rtpTimestamp
        return closeUnit()
    }

    /// Returns the unfinished access unit at the end of a stream, if there is any. Without its marker it may be
    /// incomplete, so it counts as damaged.
    public mutating func flush() -> AccessUnit? {
        unit?.isDamaged = true
        return closeUnit()
    }

    // MARK: - Access units

    private mutating func closeUnit() -> AccessUnit? {
        if fragment != nil { dropFragment() }
        guard var finished = unit else { return nil }
        unit = nil
        unitSize = 0
        guard !finished.nalUnits.isEmpty else {
            // The picture is gone, which the next unit has to tell.
            isHeadInDoubt = true
            return nil
        }
        if currentHeadIsInDoubt && !finished.isWholeFromHead { finished.isDamaged = true }
        return finished
    }

    private mutating func recordLoss() {
        fragment = nil
        unit?.isDamaged = true
        isHeadInDoubt = true
    }

    private mutating func openUnit(timestamp: UInt32) {
        defer { isHeadInDoubt = false }
        // Within a unit, loss lay between packets of the same unit, which is damaged, and spared the next.
        guard unit == nil else { return }
        unit = AccessUnit(nalUnits: [], rtpTimestamp: timestamp)
        currentHeadIsInDoubt = isHeadInDoubt
    }

    private mutating func store(_ nalUnit: NALUnit) {
        guard (unit?.nalUnits.count ?? 0) < limits.maximumNALUnitCount, reserve(nalUnit.count) else {
            oversizePayloadCount += 1
            unit?.isDamaged = true
            return
        }
        if unit?.nalUnits.isEmpty ?? false, unit?.rtpTimestamp == markedTimestamp, !currentHeadIsInDoubt,
            nalUnit.type.hasSliceHeader, !nalUnit.beginsPicture
        {
            marksSlices = true
            unit?.isDamaged = true
        }
        if isAtStart {
            isAtStart = false
            // A receiver that tunes in mid-picture would otherwise take the rest of it for the whole.
            if nalUnit.isVCL && !nalUnit.beginsPicture { unit?.isDamaged = true }
        }
        unit?.nalUnits.append(nalUnit)
    }

    /// Counts `size` bytes towards the unit's limit; false when they do not fit.
    private mutating func reserve(_ size: Int) -> Bool {
        guard unitSize + size <= limits.maximumAccessUnitSize.bytes else { return false }
        unitSize += size
        return true
    }

    /// Leaves out a payload that breaks the rules, with the fragments that it may have belonged to.
    private mutating func rejectPayload() {
        malformedPayloadCount += 1
        dropFragment()
    }

    // MARK: - Payload structures

    private mutating func take(_ payload: ByteBuffer) {
        guard let whole = NALUnit(payload) else { return }
        if whole.type != .fragmentationFUA && fragment != nil {
            dropFragment()
            malformedPayloadCount += 1
        }
        // A set F bit tells of bit errors (RFC 6184 1.3), which a decoder need not cope with.
        guard !whole.forbiddenZeroBit else { return rejectPayload() }
        switch whole.type {
        case .aggregationSTAPA: takeAggregate(payload)
        case .fragmentationFUA: takeFragment(payload)
        case let type where type.isCarriedByRTP: store(whole)
        default: rejectPayload()
        }
    }

    private mutating func takeAggregate(_ payload: ByteBuffer) {
        var rest = payload
        rest.moveReaderIndex(forwardBy: 1)
        repeat {
            guard let size = rest.readInteger(as: UInt16.self), let slice = rest.readSlice(length: Int(size)),
                let nalUnit = NALUnit(slice), nalUnit.type.isCarriedByRTP, !nalUnit.forbiddenZeroBit
            else { return rejectPayload() }
            store(nalUnit)
        } while rest.readableBytes > 0
    }

    private mutating func takeFragment(_ payload: ByteBuffer) {
        var rest = payload
        guard let indicator = rest.readInteger(as: UInt8.self),
            let fragmentHeader = rest.readInteger(as: UInt8.self).map(FragmentHeader.init),
            rest.readableBytes > 0, fragmentHeader.type.isCarriedByRTP
        else { return rejectPayload() }
        let header = indicator & 0x60 | fragmentHeader.type.rawValue
        // One fragment with start and end in it is against the RFC, but whole.
        if fragmentHeader.isStart {
            if fragment != nil {
                dropFragment()
                malformedPayloadCount += 1
            }
            // Most units that need fragments need some.
            var bytes = ByteBufferAllocator().buffer(capacity: payload.readableBytes * 4)
            bytes.writeInteger(header)
            fragment = Fragment(bytes: bytes, header: header)
        }
        guard fragment != nil else {
            // The start was lost, or was rejected: the unit is damaged either way.
            unit?.isDamaged = true
            return
        }
        guard fragment?.header == header else { return rejectPayload() }
        let size = (fragment?.bytes.readableBytes ?? 0) + rest.readableBytes
        let isOversize = fragmentHeader.type.isParameterSet && size > NALUnit.maximumParameterSetSize
        guard !isOversize, size + unitSize <= limits.maximumAccessUnitSize.bytes else {
            oversizePayloadCount += 1
            return dropFragment()
        }
        fragment?.bytes.writeImmutableBuffer(rest)
        guard fragmentHeader.isEnd, let complete = fragment.flatMap({ NALUnit($0.bytes) }) else { return }
        fragment = nil
        store(complete)
    }

    /// Gives up the NAL unit that is being put together: its end has not come.
    private mutating func dropFragment() {
        fragment = nil
        unit?.isDamaged = true
    }
}

extension AccessUnit {
    /// True if the unit itself shows that nothing before its first NAL unit belongs to it or is needed by it: an IDR
    /// picture that begins with a delimiter or with its SPS, or a recovery point. Messages, too, stand only before an
    /// access unit's first slice (H.264 7.4.1.2.3).
    fileprivate var isWholeFromHead: Bool {
        switch nalUnits.first?.type {
        case .accessUnitDelimiter, .sequenceParameterSet: isIDR || RecoveryPoint(of: nalUnits) != nil
        case .sei: RecoveryPoint(of: nalUnits) != nil
        default: false
        }
    }
}
