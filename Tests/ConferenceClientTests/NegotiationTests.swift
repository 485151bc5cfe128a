import MediaCore
import SecureTransport
import Testing

@testable import ConferenceClient

@Suite("Joining")
struct NegotiationTests {
    private func options() throws -> JoinOptions {
        JoinOptions(url: try RoomURL("http://127.0.0.1:7000/rooms/demo"), name: "Ada")
    }

    private func answer(
        _ options: JoinOptions, video: Bool = true, audio: Bool = true
    ) throws -> (client: NegotiatedSession, relay: NegotiatedSession) {
        let address = try #require(TransportAddress(host: "127.0.0.1", port: 40_000))
        let relay = try #require(TransportAddress(host: "127.0.0.1", port: 7000))
        let (offer, pending) = Negotiation.offer(options, sources: (video, audio), address: address)
        var generator = SeededGenerator(seed: 5)
        let parsed = try SessionDescription(parsing: offer.encode())
        let (answer, session) = try OfferAnswer.answer(
            offer: parsed, policy: AnswerPolicy(publicAddress: relay), using: &generator)
        let completed = try OfferAnswer.complete(
            pending: pending, answer: try SessionDescription(parsing: answer.encode()))
        return (completed, session)
    }

    @Test("the offer is accepted, with everything a good client has")
    func accepted() throws {
        let (client, relay) = try answer(options())
        let video = try #require(relay.video)
        #expect(video.sends && video.receives)
        #expect(video.feedback.nack && video.feedback.pli && video.feedback.transportCC)
        #expect(video.keys?.inbound.profile == .aeadAES128GCM)
        #expect(video.rtcpMux)
        #expect(relay.audio?.sends == true && relay.audio?.receives == true)
        #expect(client.video?.keys?.outbound == video.keys?.inbound)
        #expect(client.video?.keys?.inbound == video.keys?.outbound)
    }

    @Test("without a camera and a microphone a client offers to receive only")
    func receiveOnly() throws {
        let (_, relay) = try answer(options(), video: false, audio: false)
        #expect(relay.video?.direction == .sendOnly)
        #expect(relay.audio?.direction == .sendOnly)
    }

    @Test("a single suite is the one that is used")
    func suite() throws {
        var options = try options()
        options.srtpProfiles = [.aesCM128HMACSHA1_80]
        let (client, _) = try answer(options)
        #expect(client.video?.keys?.outbound.profile == .aesCM128HMACSHA1_80)
    }
}

@Suite("Exit codes")
struct ExitCodeTests {
    @Test("errors have the codes that are documented")
    func codes() {
        #expect(ClientError.usage(reason: "").exitCode == 64)
        #expect(ClientError.unreadableInput(path: "", reason: "").exitCode == 66)
        #expect(ClientError.relayUnreachable(url: "", reason: "").exitCode == 69)
        #expect(ClientError.relayRefused(url: "", status: 503, reason: "").exitCode == 69)
        #expect(ClientError.relayLeft(reason: "").exitCode == 69)
        #expect(ClientError.failed(reason: "").exitCode == 70)
        #expect(ClientError.outputNotWritable(path: "", reason: "").exitCode == 74)
        #expect(ClientError.noMedia(reason: "").exitCode == 75)
    }
}
