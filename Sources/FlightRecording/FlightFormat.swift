/// The numbers of the file format, which `docs/flight-recorder.md` describes.
enum FlightFormat {
    /// A non-ASCII byte and line ends of both kinds, which reveal damage by a transfer in text mode.
    static let magic: [UInt8] = [0x89] + Array("FLIGHT".utf8) + [0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt64 = 1
    /// The size limit of a record in bytes. A report on all packets that a sender remembers takes at most a third of
    /// it.
    static let maximumRecordSize = 1 << 20
    /// The longest recording: 7 days, in nanoseconds.
    static let maximumDuration: Int64 = 7 * 86_400 * 1_000_000_000
    /// The space in bytes that is reserved for the end record.
    static let endRecordSize = 16
    /// The longest text of the header, in Unicode scalars. Longer texts are cut.
    static let maximumTextLength = 256
    static let maximumScalings = 64

    enum Kind: UInt8 {
        case packetSent = 1
        case feedbackReceived = 2
        case remoteEstimateReceived = 3
        case receiverReportReceived = 4
        case demandChanged = 5
        case limitsChanged = 6
        case senderQueueChanged = 7
        case decided = 8
        case frameDelayChanged = 9
        case end = 15
    }

    enum EndReason: UInt8 {
        case closed = 0
        case limitReached = 1
        case overrun = 2
    }

    enum PacketFlags {
        static let otherSequence: UInt8 = 1
        static let otherSendTime: UInt8 = 2
        static let probe: UInt8 = 4
        static let all: UInt8 = 7
    }

    enum ResultFlags {
        static let received: UInt8 = 1
        static let wasReportedMissing: UInt8 = 2
        static let ecnShift: UInt8 = 2
        static let otherSequence: UInt8 = 16
        static let probe: UInt8 = 32
        static let otherSize: UInt8 = 64
        static let all: UInt8 = 127
    }

    enum DecisionFlags {
        static let sustained: UInt64 = 1
        static let window: UInt64 = 2
        static let probes: UInt64 = 4
        static let frameTimeout: UInt64 = 8
        /// The feedback interval that the controller asked for. Earlier versions wrote it; this one skips it.
        static let feedbackInterval: UInt64 = 16
        static let burst: UInt64 = 32
        static let padding: UInt64 = 64
        /// The interval of dropped frames. Earlier versions wrote it; this one skips it.
        static let frameDrop: UInt64 = 128
        static let emptyPathProbe: UInt64 = 256
        static let slowPath: UInt64 = 512
        static let all: UInt64 = 1023
    }
}

/// The values to which the numbers in records are relative. Encoder and decoder have the same values at the same
/// record.
struct FlightContext {
    var time: Int64
    /// The sequence number of the packet sent last; -1 before the first.
    var lastSequence: Int64 = -1
    /// The sequence number of the last packet in a report.
    var resultSequence: Int64 = -1
    var resultSize: Int64 = 0
    var resultSendTime: Int64
    var resultReceiveTime: Int64
    /// The target of the last decision.
    var target: Int64 = 0
    var pacing: Int64 = 0
    var window: Int64 = 0

    init(start: Int64) {
        time = start
        resultSendTime = start
        resultReceiveTime = start
    }
}
