/// The file format, version 1, and its numbers.
///
/// Numbers are varints (LEB128, low bits first); *signed* ones are folded: 0, -1, 1, -2 become 0, 1, 2, 3. A *text* is
/// its number of bytes and UTF-8, at most 256 Unicode scalars. A *double* is IEEE 754, lowest byte first. A *duration*
/// is a folded count of nanoseconds, doubled; otherwise 1, signed seconds, signed attoseconds. Units: nanoseconds
/// (monotonic clock), bit/s, bytes.
///
/// A file has these parts:
///
/// - the magic bytes `89 46 4C 49 47 48 54 0D 0A 1A 0A`, then the version, 1
/// - the header: length; program, controller (texts); minimum, start and maximum of the limits; start time; wall clock
///   (signed, ms since 1970); IP and UDP header bytes (signed); room, participant, identifier (texts); number of scaled
///   constants, each with name and factor (double)
/// - records: length, kind (one byte), body
///
/// The body of every record but the end begins with the signed time since the record before (the header first). Below,
/// "[n]" means: only with flag n; "Δ" is the signed difference from the last such value (at first zero, the header's
/// time, sequence number -1). Sums wrap at 64 bits.
///
/// - 1 packetSent: flags; [1] sequence number less the expected one (last + 1); size; [2] send time less the record's;
///   [4] probe cluster; all signed
/// - 2 feedbackReceived: feedback time less the record's, data in flight (signed); number of packets; each: flags; [16]
///   sequence number less the expected one (last reported + 1); [64] size (else the last); send time Δ; [32] probe
///   cluster; [1] receive time Δ; all signed. Flag 2: earlier reported missing; 4 and 8: ECN
/// - 3 remoteEstimateReceived: rate
/// - 4 receiverReportReceived: fraction lost (double); 1 and round trip (duration), or 0
/// - 5 demandChanged: rate
/// - 6 limitsChanged: minimum, start, maximum
/// - 7 senderQueueChanged: size, signed
/// - 8 decided: flags; target Δ, pacing rate Δ; next wake-up less the record's time (wrapping; "never" is the largest);
///   [1] sustained rate less target, signed; [2] congestion window Δ; [4] number of probe clusters, each id (signed),
///   rate, least packets (signed), least duration; [8] frame timeout, [16] feedback interval, [32] pacing burst
///   (durations); [64] padding rate; [128] frame drop interval, signed; flags 256 and 512: video paused to see the
///   empty path, because the path is slow
/// - 9 frameDelayChanged: delay (duration)
/// - 15 end: 0 in order, 1 limit reached, 2 writer fell behind; number of records lost
///
/// A truncated last record, or zeros up to the end, are a file cut off. A decoder refuses all else that does not fit:
/// unknown kinds or flags, wrong lengths, bytes behind the end, times backwards or beyond 7 days, sequence numbers that
/// do not grow or that jump beyond 65,536, feedback on unsent packets, fractions outside 0 to 1, sizes of 2 GiB.
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
    /// More than there are constants.
    static let maximumScalings = 128

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
