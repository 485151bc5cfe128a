import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport

/// Sends a connection's RTCP: protected, in compound packets if required, before all media.
struct ControlSender {
    private let wallClock: WallClock
    /// Our canonical name (RFC 3550, 6.5.1).
    var cname: String
    private var datagrams = CircularBuffer<PeerConnection.Transmit>()
    private var meter = RateMeter()
    private(set) var protectFailures: UInt64 = 0

    init(wallClock: WallClock, cname: String) {
        self.wallClock = wallClock
        self.cname = cname
    }

    /// Sends `packets`: alone where reduced-size RTCP was negotiated (RFC 5506), else behind the report and the source
    /// description with which a compound packet begins (RFC 3550 6.1).
    ///
    /// - Parameter isRegular: True if it is the regular report, which is there in any case.
    mutating func send(
        _ packets: [RTCPPacket], on line: MediaLine, isRegular: Bool = false, now: MonotonicInstant
    ) {
        guard let path = line.rtcpPath, let keys = line.keys else { return }
        let description = SourceDescription(
            chunks: [SourceDescription.Chunk(ssrc: line.negotiated.localSSRC, cname: cname)])
        let isReduced = line.negotiated.reducedSizeRTCP && !isRegular
        let head = isReduced ? [] : [line.makeReport(wallClock: wallClock, now: now), .sourceDescription(description)]
        var datagram = RTCPPacket.encode(head + packets)
        do {
            try keys.outbound.protect(rtcp: &datagram)
        } catch {
            protectFailures &+= 1
            return
        }
        meter.add(DataSize(bytes: datagram.readableBytes), now: now)
        datagrams.append(PeerConnection.Transmit(datagram: datagram, path: path))
    }

    /// Queues a datagram that is neither RTP nor RTCP.
    mutating func send(_ datagram: ByteBuffer, on path: NetworkPath) {
        datagrams.append(PeerConnection.Transmit(datagram: datagram, path: path))
    }

    /// Drops all that waits.
    mutating func removeAll() { datagrams.removeAll() }

    mutating func poll() -> PeerConnection.Transmit? { datagrams.popFirst() }

    /// The time of day that reports name.
    func ntpTime(at instant: MonotonicInstant) -> NTPTime { wallClock.ntpTime(at: instant) }

    /// The rate at which RTCP has left within the last second.
    mutating func sendRate(now: MonotonicInstant) -> BitRate { meter.rate(now: now) }
}
