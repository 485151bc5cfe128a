/// The file format's numbers; `docs/flight-recorder.md` describes it.
enum FlightFormat {
    /// A byte that is not ASCII and line ends of both kinds show what a transfer as text does to a file.
    static let magic: [UInt8] = [0x89] + Array("FLIGHT".utf8) + [0x0D, 0x0A, 0x1A, 0x0A]
    static let version: UInt64 = 1
    /// The largest record. A report on all packets that a sender remembers takes a third of it at most.
    static let maximumRecordSize = 1 << 20
    /// A recording lasts no longer: 7 days, in nanoseconds.
    static let maximumDuration: Int64 = 7 * 86_400 * 1_000_000_000
    /// Room for the end record.
    static let endRecordSize = 16
    /// Texts of the header are cut to so many characters (Unicode scalars).
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
        /// Written by earlier versions, and skipped: what the controller wished of the receiver.
        static let feedbackInterval: UInt64 = 16
        static let burst: UInt64 = 32
        static let padding: UInt64 = 64
        /// Likewise: of how many frames one was to be left out.
        static let frameDrop: UInt64 = 128
        static let emptyPathProbe: UInt64 = 256
        static let slowPath: UInt64 = 512
        static let all: UInt64 = 1023
    }
}

/// What the numbers in records are relative to: the same in an encoder and in a decoder at the same record.
struct FlightContext {
    var time: Int64
    /// Of the packet sent last; -1 before the first.
    var lastSequence: Int64 = -1
    /// Of the last packet in a report.
    var resultSequence: Int64 = -1
    var resultSize: Int64 = 0
    var resultSendTime: Int64
    var resultReceiveTime: Int64
    /// Of the last decision.
    var target: Int64 = 0
    var pacing: Int64 = 0
    var window: Int64 = 0

    init(start: Int64) {
        time = start
        resultSendTime = start
        resultReceiveTime = start
    }
}
