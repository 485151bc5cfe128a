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
    var now = KeyedSession.now
    private let address = KeyedSession.source
    private let outbound: SRTPContext
    private let inbound: SRTPContext

    init() throws {
        let negotiated = try KeyedSession(seed: 9)
        peer = negotiated.peer
        session = negotiated.remote
        let keys = try #require(negotiated.remote.video?.keys)
        // The remote side may have any number of sources.
        outbound = try SRTPContext(keys: keys.outbound, direction: .outbound, maximumSourceCount: 1000)
        inbound = try SRTPContext(keys: keys.inbound, direction: .inbound)
    }

    /// Sends a packet of video.
    func sendVideo(from ssrc: UInt32) throws {
        let outcome = try videoOutcome(from: ssrc)
        #expect(outcome == .accepted)
    }

    /// What becomes of a packet of video.
    func videoOutcome(from ssrc: UInt32) throws -> PeerConnection.ReceiveOutcome {
        let media = try #require(session.video)
        var datagram = RTPPacket(
            payloadType: media.payloadType, sequenceNumber: 1, timestamp: 0, ssrc: ssrc,
            payload: ByteBuffer(bytes: [0x09, 0xF0])
        ).encode()
        try outbound.protect(rtp: &datagram)
        return peer.receive(datagram, from: address, now: now)
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
