import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

/// Our client over ICE and DTLS, and the relay.
struct DTLSNegotiation {
    static let client = TransportAddress(ipv4: 0xC000_0207, port: 6000)
    static let fingerprint = CertificateFingerprint(digest: Array(repeating: 0xAB, count: 32))

    var generator = SeededGenerator(seed: 21)
    var offer: SessionDescription?
    var pending: PendingOffer?
    var answered: (answer: SessionDescription, session: NegotiatedSession)?

    func parameters(ufrag: String = "client") throws -> OfferParameters {
        OfferParameters(
            address: Self.client,
            transport: .dtls(
                fingerprint: try #require(Self.fingerprint),
                credentials: ICECredentials(usernameFragment: ufrag, password: "clientclientclientclient")))
    }

    /// Makes an offer, its answer and its completion, each through its text; continues from the media negotiated
    /// before.
    mutating func negotiate(
        _ parameters: OfferParameters, policy: AnswerPolicy = .overDTLS
    ) throws -> (client: NegotiatedSession, relay: NegotiatedSession) {
        let (offer, pending) = OfferAnswer.makeOffer(parameters, previous: pending, using: &generator)
        let answered = try OfferAnswer.answer(
            offer: SessionDescription(parsing: offer.encode()), policy: policy, previous: answered, using: &generator)
        let completed = try OfferAnswer.complete(
            pending: pending, answer: SessionDescription(parsing: answered.answer.encode()))
        (self.offer, self.pending, self.answered) = (offer, pending, answered)
        return (completed, answered.session)
    }
}

@Suite struct DTLSOfferTests {
    @Test("client and relay agree on streams and transport, each seeing it from its side")
    func agreement() throws {
        var negotiation = DTLSNegotiation()
        var parameters = try negotiation.parameters()
        parameters.screenShare = .init(direction: .sendOnly)
        // DTLS needs both, whatever is said.
        parameters.rtcpMux = false
        parameters.bundle = false
        let (client, relay) = try negotiation.negotiate(parameters)
        #expect(client.isBundled && relay.isBundled)
        #expect(client.media.count == 3 && relay.media.count == 3)
        for (mine, theirs) in zip(client.media, relay.media) {
            #expect(mine.kind == theirs.kind && mine.content == theirs.content && mine.mid == theirs.mid)
            #expect(mine.payloadType == theirs.payloadType && mine.feedback == theirs.feedback)
            #expect(mine.retransmissionPayloadType == theirs.retransmissionPayloadType)
            #expect((mine.retransmissionPayloadType != nil) == (mine.kind == .video))
            #expect(mine.extensionIDs == theirs.extensionIDs && mine.direction == theirs.direction.reversed)
            #expect(mine.keys == nil && theirs.keys == nil && mine.rtcpMux && theirs.rtcpMux)
            #expect(theirs.remoteSSRCs == [mine.localSSRC])
            #expect(mine.remoteSSRCs == (theirs.sends ? [theirs.localSSRC] : []))
            if let retransmission = mine.localRetransmissionSSRC {
                #expect(theirs.remoteRetransmissionSSRCs == [retransmission: mine.localSSRC])
            }
            if let retransmission = theirs.localRetransmissionSSRC, theirs.sends {
                #expect(mine.remoteRetransmissionSSRCs == [retransmission: theirs.localSSRC])
            }
        }
        #expect(client.screenShare?.direction == .sendOnly && client.video?.direction == .sendAndReceive)

        let mine = try #require(client.transport)
        let theirs = try #require(relay.transport)
        #expect(mine.localCredentials == theirs.remoteCredentials && mine.remoteCredentials == theirs.localCredentials)
        #expect(mine.dtlsRole == .client && theirs.dtlsRole == .server)
        #expect(mine.isRemoteLite && !theirs.isRemoteLite)
        #expect(mine.remoteCandidates.map(\.address.description) == ["203.0.113.5:7000", "[2001:db8::5]:7000"])
        #expect(mine.remoteFingerprints == [AnswerPolicy.overDTLS.certificateFingerprint])
        #expect(theirs.remoteFingerprints == [DTLSNegotiation.fingerprint])
    }

    @Test("the offer has the attributes for ICE and DTLS, and leaves the roles open")
    func offerText() throws {
        var negotiation = DTLSNegotiation()
        _ = try negotiation.negotiate(negotiation.parameters())
        let offer = try #require(negotiation.offer)
        #expect(offer.media.map(\.transport.description) == ["UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVPF"])
        for description in offer.media {
            #expect(description.values("setup") == ["actpass"] && description.values("ice-ufrag") == ["client"])
            #expect(description.values("fingerprint").first?.hasPrefix("sha-256 AB:AB:") == true)
            #expect(description.rtcpMux && !description.hasAttribute("crypto"))
        }
        #expect(offer.media[0].values("candidate") == ["1 1 udp 2130706431 192.0.2.7 6000 typ host"])
        #expect(offer.media[1].values("candidate").isEmpty)
        #expect(offer.media[1].values("rtpmap").contains("100 rtx/90000"))
        #expect(offer.media[1].values("fmtp").contains("100 apt=96"))
    }

    @Test("a single stream is accepted")
    func oneStream() throws {
        var negotiation = DTLSNegotiation()
        var parameters = try negotiation.parameters()
        parameters.video = nil
        let (client, relay) = try negotiation.negotiate(parameters)
        #expect(client.media.count == 1 && client.transport != nil && relay.transport != nil)
    }

    @Test("media that the relay rejects is missing on both sides, even if it is the first of the group")
    func rejected() throws {
        var negotiation = DTLSNegotiation()
        var policy = AnswerPolicy.overDTLS
        policy.audioDirection = nil
        let (client, relay) = try negotiation.negotiate(negotiation.parameters(), policy: policy)
        #expect(client.media.map(\.kind) == [.video] && relay.media.map(\.kind) == [.video])
        #expect(client.transport?.remoteCandidates.count == 2)
    }

    @Test(
        "an answer whose transport does not fit the offer is an error",
        arguments: [
            ("a=setup:passive", "a=setup:actpass", "neither active nor passive"),
            ("a=setup:passive", "a=x", "neither active nor passive"),
            ("a=ice-pwd", "a=x-pwd", "a=ice-pwd"), ("a=fingerprint", "a=x", "a=fingerprint"),
            ("sha-256", "sha-512", "sha-256"), ("a=group:BUNDLE 0 1", "a=group:BUNDLE 0", "one transport"),
            ("UDP/TLS/RTP/SAVPF", "RTP/SAVPF", "was not offered"),
        ])
    func mismatches(original: String, replacement: String, reason: String) throws {
        var negotiation = DTLSNegotiation()
        _ = try negotiation.negotiate(negotiation.parameters())
        let answer = try #require(negotiation.answered).answer
        try #require(negotiation.pending)
            .expectMismatch(of: answer, replacing: original, with: replacement, reason: reason)
    }

    @Test("an answer that takes the active part makes us the server")
    func activeAnswer() throws {
        var negotiation = DTLSNegotiation()
        _ = try negotiation.negotiate(negotiation.parameters())
        let text = try #require(negotiation.answered).answer.encode().replacing(
            "a=setup:passive", with: "a=setup:active")
        let session = try OfferAnswer.complete(
            pending: #require(negotiation.pending), answer: SessionDescription(parsing: text))
        #expect(session.transport?.dtlsRole == .server)
    }
}
