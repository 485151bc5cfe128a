import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

/// Goodbyes of sources, in a session whose keys the descriptions carry.
@Suite struct GoodbyeTests {
    private let address = TransportAddress(ipv4: 0x7f00_0001, port: 20_000)
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// The remote side of a connection.
    private struct Remote {
        let peer: PeerConnection
        let session: NegotiatedSession
        let outbound: SRTPContext
    }

    private func connect() throws -> Remote {
        var random = SeededGenerator(seed: 9)
        let (offer, pending) = OfferAnswer.makeOffer(OfferParameters(address: address), using: &random)
        let (answer, session) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000)),
            using: &random)
        let remote = try OfferAnswer.complete(pending: pending, answer: answer)
        let keys = try #require(remote.video?.keys)
        let peer = try PeerConnection(
            session: session,
            configuration: PeerConfiguration(rateLimits: KeyedPath.limits, trustsRemoteDescription: true, seed: 5),
            wallClock: WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32)), now: now)
        return Remote(
            peer: peer, session: remote, outbound: try SRTPContext(keys: keys.outbound, direction: .outbound))
    }

    /// Sends a packet of video.
    private func sendVideo(from ssrc: UInt32, of remote: Remote) throws {
        let media = try #require(remote.session.video)
        var datagram = RTPPacket(
            payloadType: media.payloadType, sequenceNumber: 1, timestamp: 0, ssrc: ssrc,
            payload: ByteBuffer(bytes: [0x09, 0xF0])
        ).encode()
        try remote.outbound.protect(rtp: &datagram)
        #expect(remote.peer.receive(datagram, from: address, now: now) == .accepted)
    }

    /// Says goodbye for a source. Returns true if the participant counts as gone.
    private func sayGoodbye(for ssrc: UInt32, of remote: Remote) throws -> Bool {
        let audio = try #require(remote.session.audio)
        var datagram = RTCPPacket.encode([
            .receiverReport(ReceiverReport(ssrc: audio.localSSRC)), .bye(Goodbye(ssrcs: [ssrc])),
        ])
        try remote.outbound.protect(rtcp: &datagram)
        #expect(remote.peer.receive(datagram, from: address, now: now) == .accepted)
        var hasLeft = false
        while let event = remote.peer.pollEvent() {
            if case .goodbye = event { hasLeft = true }
        }
        return hasLeft
    }

    @Test("the goodbye of a source that another has replaced ends nothing, and that of the other one does")
    func replacedSource() throws {
        let remote = try connect()
        let first = try #require(remote.session.video).localSSRC
        try sendVideo(from: first, of: remote)
        try sendVideo(from: first &+ 1, of: remote)
        #expect(try !sayGoodbye(for: first, of: remote))
        #expect(try sayGoodbye(for: first &+ 1, of: remote))
    }

    @Test("the goodbye of a source that has sent no media counts")
    func silentSource() throws {
        let remote = try connect()
        let audio = try #require(remote.session.audio)
        #expect(try sayGoodbye(for: audio.localSSRC, of: remote))
    }
}
