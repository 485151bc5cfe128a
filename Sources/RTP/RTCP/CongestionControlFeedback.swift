import MediaCore
import NIOCore

/// The arrivals of each stream's packets at a receiver, with the network's marks (RFC 8888).
public struct CongestionControlFeedback: Hashable, Sendable {
    static let format: UInt8 = 11

    /// The packets of one stream.
    public struct Stream: Hashable, Sendable {
        public var ssrc: UInt32
        /// The sequence number of the first packet reported on.
        public var beginSequence: UInt16
        /// One entry for each sequence number from `beginSequence` on, nil if the packet was not received. The first
        /// 16384 are written.
        public var packets: [PacketArrival?]

        /// The most packets a report has on one stream.
        public static let maximumPacketCount = 16384

        public init(ssrc: UInt32, beginSequence: UInt16, packets: [PacketArrival?]) {
            self.ssrc = ssrc
            self.beginSequence = beginSequence
            self.packets = packets
        }
    }

    public struct PacketArrival: Hashable, Sendable {
        /// The congestion marking that the packet came with.
        public var ecn: ECNCodepoint
        /// The time from the packet's arrival to the report's timestamp, in 1/1024 s: 13 bits.
        public var arrivalTimeOffset: UInt16

        /// The offset that means "at least 8189/1024 s".
        public static let offsetTooLarge: UInt16 = 0x1FFE
        /// The offset that means "unknown, or after the report's timestamp".
        public static let offsetUnavailable: UInt16 = 0x1FFF

        /// Creates an arrival; only the low 13 bits of the offset are kept.
        public init(ecn: ECNCodepoint = .notCapable, arrivalTimeOffset: UInt16) {
            self.ecn = ecn
            self.arrivalTimeOffset = arrivalTimeOffset & 0x1FFF
        }

        /// Creates the arrival of a packet `age` before the report's timestamp.
        public init(ecn: ECNCodepoint = .notCapable, age: Duration) {
            let units = (age.seconds * 1024).rounded()
            if units < 0 {
                self.init(ecn: ecn, arrivalTimeOffset: Self.offsetUnavailable)
            } else {
                let isRepresentable = units < Double(Self.offsetTooLarge)
                self.init(ecn: ecn, arrivalTimeOffset: isRepresentable ? UInt16(units) : Self.offsetTooLarge)
            }
        }

        /// The time from the packet's arrival to the report's timestamp; nil if the report does not state it.
        public var age: Duration? {
            guard arrivalTimeOffset < Self.offsetTooLarge else { return nil }
            return .nanoseconds(Int64(arrivalTimeOffset) * 1_000_000_000 / 1024)
        }
    }

    public var senderSSRC: UInt32
    public var streams: [Stream]
    /// The time of the report: the middle 32 bits of the receiver's NTP time.
    public var reportTimestamp: UInt32

    public init(senderSSRC: UInt32, streams: [Stream], reportTimestamp: UInt32) {
        self.senderSSRC = senderSSRC
        self.streams = streams
        self.reportTimestamp = reportTimestamp
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "congestion control feedback")
        streams = []
        while body.readableBytes > 4 {
            let ssrc = try body.read(UInt32.self, of: "stream of congestion control feedback")
            let beginSequence = try body.read(UInt16.self, of: "stream of congestion control feedback")
            let count = Int(try body.read(UInt16.self, of: "stream of congestion control feedback"))
            guard count <= Stream.maximumPacketCount else {
                throw .malformed(
                    structure: "congestion control feedback",
                    reason: "it reports on \(count) packets of a stream, at most 16384 are allowed")
            }
            var reports = try body.read(bytes: (count + count % 2) * 2, of: "stream of congestion control feedback")
            var packets: [PacketArrival?] = []
            packets.reserveCapacity(count)
            for _ in 0..<count {
                let report = try reports.read(UInt16.self, of: "stream of congestion control feedback")
                packets.append(PacketArrival(report: report))
            }
            streams.append(Stream(ssrc: ssrc, beginSequence: beginSequence, packets: packets))
        }
        reportTimestamp = try body.read(of: "congestion control feedback")
    }

    func encode(into buffer: inout ByteBuffer) {
        let maximumSize = Int(UInt16.max) * 4
        buffer.writeRTCP(type: RTCPType.transportLayerFeedback, countOrFormat: Self.format) {
            let start = $0.writerIndex
            $0.writeInteger(senderSSRC)
            for stream in streams {
                let packets = stream.packets.prefix(Stream.maximumPacketCount)
                // Packets that do not fit the length field are left out.
                guard $0.writerIndex - start + 8 + (packets.count + 1) * 2 + 4 <= maximumSize else { break }
                $0.writeMultipleIntegers(
                    stream.ssrc, stream.beginSequence, UInt16(truncatingIfNeeded: packets.count))
                for packet in packets { $0.writeInteger(packet?.report ?? 0) }
                if packets.count % 2 != 0 { $0.writeInteger(UInt16(0)) }
            }
            $0.writeInteger(reportTimestamp)
        }
    }
}

extension CongestionControlFeedback.PacketArrival {
    /// The 16 bits of a packet's report: received, marking, offset; nil when they say that it was not received.
    fileprivate init?(report: UInt16) {
        guard report & 0x8000 != 0 else { return nil }
        let ecn = ECNCodepoint(rawValue: UInt8(truncatingIfNeeded: report >> 13 & 0x3)) ?? .notCapable
        self.init(ecn: ecn, arrivalTimeOffset: report)
    }

    fileprivate var report: UInt16 { 0x8000 | UInt16(ecn.rawValue) << 13 | (arrivalTimeOffset & 0x1FFF) }
}
