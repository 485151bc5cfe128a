import HTTPTransfer
import MediaCore
import NIOCore
import NIOPosix
import SDP
import SecureTransport
import Testing

@testable import ConferenceClient

@Suite("Joining")
struct NegotiationTests {
    private let certificates: (client: DTLSCertificate, relay: DTLSCertificate)

    init() throws {
        certificates = try (DTLSCertificate(), DTLSCertificate())
    }

    private func options(_ transport: ClientTransport) throws -> JoinOptions {
        var options = JoinOptions(url: try RoomURL("http://127.0.0.1:7000/rooms/demo"), name: "Ada")
        options.transport = transport
        return options
    }

    private func answer(
        _ options: JoinOptions, video: Bool = true, followsBitRate: Bool = true, audio: Bool = true
    ) throws -> (client: NegotiatedSession, relay: NegotiatedSession) {
        let address = try #require(TransportAddress(host: "127.0.0.1", port: 40_000))
        let relay = try #require(TransportAddress(host: "127.0.0.1", port: 7000))
        let (offer, pending) = Negotiation.offer(
            options, sources: (video, followsBitRate, audio), address: address,
            fingerprint: options.transport == .dtls ? certificates.client.fingerprint : nil)
        var generator = SeededGenerator(seed: 5)
        let parsed = try SessionDescription(parsing: offer.encode())
        let (answer, session) = try OfferAnswer.answer(
            offer: parsed,
            policy: AnswerPolicy(publicAddress: relay, certificateFingerprint: certificates.relay.fingerprint),
            using: &generator)
        let completed = try OfferAnswer.complete(
            pending: pending, answer: try SessionDescription(parsing: answer.encode()))
        return (completed, session)
    }

    @Test("the offer is accepted, with everything a good client has", arguments: ClientTransport.allCases)
    func accepted(transport: ClientTransport) throws {
        let (client, relay) = try answer(options(transport))
        let video = try #require(relay.video)
        #expect(video.sends && video.receives)
        #expect(video.feedback.nack && video.feedback.pli && video.feedback.transportCC)
        #expect(video.rtcpMux)
        #expect(relay.audio?.sends == true && relay.audio?.receives == true)
        #expect(video.retransmissionPayloadType != nil)
        #expect((relay.transport != nil) == (transport == .dtls))
        #expect((client.transport != nil) == (transport == .dtls))
    }

    @Test("a participant whose answer cannot be used leaves the room again")
    func unusableAnswer() async throws {
        let path = "/rooms/demo/participants/5f2c9a1e.0b9ef49f9f2cef774797"
        let address = try #require(TransportAddress(host: "127.0.0.1", port: 40_000))
        try await ScriptedServer.run([
            .init("201 Created\r\nLocation: \(path)", ByteBuffer(string: "nonsense")), .init("200 OK"),
        ]) { url, server in
            var changed = try self.options(.sdes)
            changed.url = url
            let options = changed
            let (offer, pending) = Negotiation.offer(
                options, sources: (true, true, true), address: address, fingerprint: nil)
            let error = await #expect(throws: ClientError.self) {
                try await Negotiation.join(options, offer: offer, pending: pending)
            }
            #expect(error?.exitCode == 69)
            #expect(server.requests.last == "DELETE \(path)")
        }
    }

    @Test("the participant's id is the location's end without the key")
    func participantID() throws {
        let session = try answer(options(.dtls)).client
        let location = "/rooms/demo/participants/5f2c9a1e.0b9ef49f9f2cef774797"
        #expect(Negotiation(session: session, location: location, posted: .zero).participantID == "5f2c9a1e")
    }

    @Test("a participant reads the room with the key of the session, which a room with a PIN asks for")
    func memberProof() throws {
        let location = "/rooms/demo/participants/5f2c9a1e.0b9ef49f9f2cef774797"
        let negotiation = Negotiation(session: try answer(options(.dtls)).client, location: location, posted: .zero)
        for text in ["http://127.0.0.1:7000/rooms/demo", "http://127.0.0.1:7000/rooms/demo#token=abc"] {
            let request = Signalling(negotiation.memberURL(of: try RoomURL(text))).eventsRequest
            #expect(request.url == "http://127.0.0.1:7000/rooms/demo/events")
            let proof = HTTPClient.Field(name: "Authorization", value: "Bearer 5f2c9a1e.0b9ef49f9f2cef774797")
            #expect(request.fields.contains(proof))
        }
    }

    @Test(
        "a client that can follow a rate asks for feedback; a sender of encoded frames does not",
        arguments: [true, false])
    func rate(follows: Bool) throws {
        let video = try #require(try answer(options(.dtls), followsBitRate: follows).relay.video)
        #expect(video.feedback.remb == follows)
        #expect(video.feedback.tmmbr == follows)
    }

    @Test("a silent client's offer asks for nothing that needs its reports, and is accepted")
    func silent() throws {
        var options = try options(.sdes)
        options.isSilent = true
        let relay = try answer(options, video: false, audio: false).relay
        let video = try #require(relay.video)
        #expect(video.sends && !video.receives)
        #expect(video.feedback == .none && relay.audio?.feedback == FeedbackSupport.none)
        #expect(video.retransmissionPayloadType == nil)
        #expect(video.flexFECPayloadType == nil && relay.audio?.redundancyPayloadType == nil)
    }

    @Test("a client that does not receive only sends")
    func sendOnly() throws {
        var options = try options(.dtls)
        options.receives = false
        let relay = try answer(options).relay
        #expect(relay.video?.sends == false && relay.video?.receives == true)
        #expect(relay.audio?.sends == false && relay.audio?.receives == true)
    }

    @Test(
        "over DTLS each side knows the other's credentials and fingerprint, and the client checks the relay's address")
    func overDTLS() throws {
        let (client, relay) = try answer(options(.dtls))
        let (ours, theirs) = try (#require(client.transport), #require(relay.transport))
        #expect(ours.isRemoteLite && !theirs.isRemoteLite)
        #expect(ours.remoteFingerprints == [certificates.relay.fingerprint])
        #expect(theirs.remoteFingerprints == [certificates.client.fingerprint])
        #expect(ours.localCredentials == theirs.remoteCredentials)
        #expect(ours.remoteCredentials == theirs.localCredentials)
        #expect(ours.dtlsRole == theirs.dtlsRole.reversed)
        #expect(ours.remoteCandidates.map(\.address.description) == ["127.0.0.1:7000"])
        #expect(client.video?.keys == nil)
    }

    @Test("with keys in the descriptions each side has the other's, AES-GCM preferred")
    func withKeys() throws {
        let (client, relay) = try answer(options(.sdes))
        #expect(relay.video?.keys?.inbound.profile == .aeadAES128GCM)
        #expect(client.video?.keys?.outbound == relay.video?.keys?.inbound)
        #expect(client.video?.keys?.inbound == relay.video?.keys?.outbound)
    }

    @Test("without a camera and a microphone a client offers to receive only", arguments: ClientTransport.allCases)
    func receiveOnly(transport: ClientTransport) throws {
        let (_, relay) = try answer(options(transport), video: false, audio: false)
        #expect(relay.video?.direction == .sendOnly)
        #expect(relay.audio?.direction == .sendOnly)
    }

    @Test("a single suite is the one that is used")
    func suite() throws {
        var options = try options(.sdes)
        options.srtpProfiles = [.aesCM128HMACSHA1_80]
        let (client, _) = try answer(options)
        #expect(client.video?.keys?.outbound.profile == .aesCM128HMACSHA1_80)
    }

    @Test("only candidates of the socket's family are checked, from a loopback address only loopback ones")
    func reachableCandidates() async throws {
        let candidates = ICECandidate.hostCandidates(
            try ["127.0.0.1", "::1", "127.0.0.2", "192.0.2.1"].map {
                try #require(TransportAddress(host: $0, port: 7_000))
            })
        let address = try #require(TransportAddress(host: "127.0.0.1", port: 40_000))
        let reachable = await MediaSocket.reachable(
            candidates, from: address, on: MultiThreadedEventLoopGroup.singleton.next())
        #expect(reachable.map(\.address.host) == ["127.0.0.1", "127.0.0.2"])
    }
}

@Suite("Retry-After")
struct RetryTests {
    @Test("seconds are understood, and nothing else")
    func time() {
        #expect(Negotiation.retryTime("30") == .seconds(30))
        #expect(Negotiation.retryTime("0") == .zero)
        for field in [nil, "", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT", "99999999999999999999", "soon"] {
            #expect(Negotiation.retryTime(field) == nil)
        }
    }

    @Test("only where a relay has no seat is it asked again")
    func errors() {
        func error(_ status: Int) -> ClientError {
            .relayRefused(url: "", status: status, reason: "", retryAfter: .seconds(5))
        }
        #expect(error(503).retryAfter == .seconds(5))
        #expect(error(403).retryAfter == nil)
        #expect(ClientError.relayLeft(reason: "").retryAfter == nil)
    }
}

@Suite("Exit codes")
struct ExitCodeTests {
    @Test("errors have the codes that are documented")
    func codes() {
        #expect(ClientError.usage(reason: "").exitCode == 64)
        #expect(ClientError.unreadableInput(path: "", reason: "").exitCode == 66)
        #expect(ClientError.relayUnreachable(url: "", reason: "").exitCode == 69)
        #expect(ClientError.relayNotTrusted(url: "", reason: "").exitCode == 69)
        #expect(ClientError.relayRefused(url: "", status: 503, reason: "").exitCode == 69)
        #expect(ClientError.nothingToEnd(reason: "").exitCode == 69)
        #expect(ClientError.relayLeft(reason: "").exitCode == 69)
        #expect(ClientError.failed(reason: "").exitCode == 70)
        #expect(ClientError.outputNotWritable(path: "", reason: "").exitCode == 74)
        #expect(ClientError.noMedia(reason: "").exitCode == 75)
    }
}
