import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport

/// Finds the line of each packet that arrives, removes its protection, and latches the line's address by it.
struct MediaRouter {
    private(set) var packetsReceived: UInt64 = 0
    private(set) var malformed: UInt64 = 0
    private(set) var replayed: UInt64 = 0
    private(set) var unauthenticated: UInt64 = 0

    /// RTP of a line is still heard for this time after its last packet.
    private static let hearingTime = Duration.seconds(2)

    /// The reason for which no line takes a datagram.
    struct Refusal: Error {
        var outcome: PeerConnection.ReceiveOutcome
    }

    // MARK: RTP

    /// Finds whose packet an RTP datagram is, and decrypts it in place.
    mutating func route(
        rtp datagram: inout ByteBuffer, among lines: MediaLines, isBundled: Bool
    ) throws(Refusal) -> (packet: RTPPacket, line: MediaLine) {
        guard let typeByte = datagram.getInteger(at: datagram.readerIndex + 1, as: UInt8.self),
            let ssrc = datagram.getInteger(at: datagram.readerIndex + 8, as: UInt32.self)
        else { throw Refusal(outcome: .malformed) }
        let line: MediaLine
        switch Self.owner(
            of: datagram, payloadType: typeByte & 0x7f, ssrc: ssrc, among: lines, isBundled: isBundled)
        {
        case .none: throw Refusal(outcome: .unknown)
        case .line(let owner):
            guard let keys = owner.keys else { throw Refusal(outcome: .unknown) }
            do {
                try keys.inbound.unprotect(rtp: &datagram)
            } catch {
                throw refusal(for: error)
            }
            line = owner
        case .oneOf(let candidates):
            let found = try unprotect(datagram, onOneOf: candidates) { keys, bytes throws(SRTPError) in
                try keys.unprotect(rtp: &bytes)
            }
            guard let found else { throw Refusal(outcome: .unknown) }
            (datagram, line) = found
        }
        guard let packet = try? RTPPacket(parsing: datagram) else {
            malformed &+= 1
            throw Refusal(outcome: .malformed)
        }
        guard let named = Self.line(named: packet.extensions, among: lines), named !== line, isBundled else {
            return (packet, line)
        }
        // A source moves to another line when the remote side says so (RFC 8843 9.2).
        guard named.takes(payloadType: packet.payloadType) else { throw Refusal(outcome: .unknown) }
        line.forget(ssrc: ssrc)
        return (packet, named)
    }

    /// Counts a packet that was taken.
    mutating func accepted() { packetsReceived &+= 1 }

    private enum Owner {
        case none
        case line(MediaLine)
        /// The first of these whose keys fit.
        case oneOf([MediaLine])
    }

    /// The line whose packet this is (RFC 8843 9.2): the one that knows the SSRC, else the one that the packet names,
    /// else the one with the payload type. Without BUNDLE two lines may use one payload type, each with its own keys.
    /// With it, packets of a stream that has ended, such as a screen that is not shared any more, are late: they are of
    /// no other line.
    private static func owner(
        of datagram: ByteBuffer, payloadType: UInt8, ssrc: UInt32, among lines: MediaLines, isBundled: Bool
    ) -> Owner {
        for line in lines where line.takes(payloadType: payloadType) && line.knownSSRCs.contains(ssrc) {
            return .line(line)
        }
        if let extensions = RTPHeaderExtensions(ofPacket: datagram), let named = line(named: extensions, among: lines) {
            return named.takes(payloadType: payloadType) ? .line(named) : .none
        }
        guard !isBundled || !lines.contains(where: { !$0.receives && $0.knownSSRCs.contains(ssrc) }) else {
            return .none
        }
        var fitting: [MediaLine] = []
        for line in lines where line.takes(payloadType: payloadType) && !line.hasOnlyAnnouncedSources {
            // One attempt is enough with keys that lines have in common.
            if !fitting.contains(where: { $0.keys?.inbound === line.keys?.inbound }) { fitting.append(line) }
        }
        guard let first = fitting.first else { return .none }
        return fitting.count == 1 ? .line(first) : .oneOf(fitting)
    }

    /// Decrypts a packet with the keys of the first of these lines that they fit; nil: none has keys. Each attempt has
    /// a copy, which it spoils if it fails.
    private mutating func unprotect(
        _ datagram: ByteBuffer, onOneOf lines: [MediaLine],
        by decrypt: (_ keys: SRTPContext, _ bytes: inout ByteBuffer) throws(SRTPError) -> Void
    ) throws(Refusal) -> (datagram: ByteBuffer, line: MediaLine)? {
        var failure: SRTPError?
        for line in lines {
            guard let keys = line.keys else { continue }
            var attempt = datagram
            do {
                try decrypt(keys.inbound, &attempt)
                return (attempt, line)
            } catch {
                failure = error
            }
        }
        if let failure { throw refusal(for: failure) }
        return nil
    }

    private static func line(named extensions: RTPHeaderExtensions, among lines: MediaLines) -> MediaLine? {
        extensions.isEmpty ? nil : lines.first { $0.isNamed(by: extensions) }
    }

    // MARK: RTCP

    /// Finds under whose keys an RTCP datagram is, and decrypts it.
    mutating func route(
        rtcp datagram: ByteBuffer, among lines: MediaLines
    ) throws(Refusal) -> (packets: [RTCPPacket], line: MediaLine) {
        guard let ssrc = datagram.getInteger(at: datagram.readerIndex + 4, as: UInt32.self) else {
            throw Refusal(outcome: .malformed)
        }
        let lines = Self.linesToTry(ssrc: ssrc, among: lines)
        let found = try unprotect(datagram, onOneOf: lines) { keys, bytes throws(SRTPError) in
            try keys.unprotect(rtcp: &bytes)
        }
        guard let (control, line) = found else { throw Refusal(outcome: .unauthenticated) }
        guard let packets = try? RTCPPacket.parse(compound: control) else {
            malformed &+= 1
            throw Refusal(outcome: .malformed)
        }
        line.remember(ssrc: ssrc)
        return (packets, line)
    }

    /// Returns the lines whose keys an RTCP packet may have, those that know its source first; of lines with a common
    /// context, one. Sources on lines that are not bundled may have the same number.
    private static func linesToTry(ssrc: UInt32, among lines: MediaLines) -> [MediaLine] {
        let isKnown = { (line: MediaLine) in line.knownSSRCs.contains(ssrc) }
        var candidates: [MediaLine] = []
        for line in lines.filter(isKnown) + lines.filter({ !isKnown($0) })
        where !candidates.contains(where: { $0.keys?.inbound === line.keys?.inbound }) {
            candidates.append(line)
        }
        return candidates
    }

    /// Counts a packet that no keys fit.
    private mutating func refusal(for failure: SRTPError) -> Refusal {
        if case .replayed = failure { replayed &+= 1 } else { unauthenticated &+= 1 }
        return Refusal(outcome: .unauthenticated)
    }

    // MARK: Addresses

    /// Sends media to the source of the newest authentic packet: a client may change its address at any time.
    static func latch(
        _ line: MediaLine, by packet: RTPPacket, on path: NetworkPath, among lines: MediaLines, isBundled: Bool
    ) {
        guard line.isNewest(ssrc: packet.ssrc, sequenceNumber: packet.sequenceNumber), line.rtpPath != path
        else { return }
        setPath(path, of: line, among: lines, isBundled: isBundled)
    }

    /// Reports go to where authentic ones came from; media too, to an endpoint that sends no RTP, by role or for the
    /// time being: it is known by RTCP alone.
    static func latch(
        _ line: MediaLine, byControlOn path: NetworkPath, among lines: MediaLines, isBundled: Bool,
        now: MonotonicInstant
    ) {
        guard line.negotiated.rtcpMux else {
            line.sendControl(on: path)
            return
        }
        let isHeard = lines.contains { other in
            guard other === line || isBundled, let last = other.lastRTP else { return false }
            return now - last < hearingTime
        }
        if line.rtpPath == nil || !isHeard {
            setPath(path, of: line, among: lines, isBundled: isBundled)
        }
    }

    private static func setPath(
        _ path: NetworkPath, of line: MediaLine, among lines: MediaLines, isBundled: Bool
    ) {
        for other in lines where other === line || isBundled { other.sendMedia(on: path) }
    }
}
