import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// A connection with audio and video, and its remote side, whose keys the descriptions carry. Time passes only where a
/// test says so.
struct KeyedRemote {
    let peer: PeerConnection
    /// The remote side's end of the session.
    let session: NegotiatedSession
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let address = TransportAddress(ipv4: 0x7f00_0001, port: 20_000)
    private let outbound: SRTPContext
    private let inbound: SRTPContext

    init() throws {
        var random = SeededGenerator(seed: 9)
        let (offer, pending) = OfferAnswer.makeOffer(OfferParameters(address: address), using: &random)
        let (answer, session) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000)),
            using: &random)
        let remote = try OfferAnswer.complete(pending: pending, answer: answer)
        let keys = try #require(remote.video?.keys)
        self.session = remote
        outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
        inbound = try SRTPContext(keys: keys.inbound, direction: .inbound)
        peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(rateLimits: KeyedPath.limits, trustsRemoteDescription: true, seed: 5),
            wallClock: WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32)), now: now)
    }

    /// Sends a packet of video.
    func sendVideo(from ssrc: UInt32) throws {
        let media = try #require(session.video)
        var datagram = RTPPacket(
            payloadType: media.payloadType, sequenceNumber: 1, timestamp: 0, ssrc: ssrc,
            payload: ByteBuffer(bytes: [0x09, 0xF0])
        ).encode()
        try outbound.protect(rtp: &datagram)
        #expect(peer.receive(datagram, from: address, now: now) == .accepted)
    }

    /// Sends RTCP.
    func say(_ packets: [RTCPPacket]) throws {
        var datagram = RTCPPacket.encode(packets)
        try outbound.protect(rtcp: &datagram)
        #expect(peer.receive(datagram, from: address, now: now) == .accepted)
    }

    /// The RTCP that the connection has sent since the last call.
    func heard() throws -> [RTCPPacket] {
        var packets: [RTCPPacket] = []
        while let transmit = peer.pollTransmit(now: now) {
            var datagram = transmit.datagram
            guard DatagramKind.classify(datagram) == .rtcp else { continue }
            try inbound.unprotect(rtcp: &datagram)
            packets += try RTCPPacket.parse(compound: datagram)
        }
        return packets
    }
}
