import Foundation
import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct RenegotiationTests {
    /// A session as the relay has it.
    private struct Session {
        var generator = SeededGenerator(seed: 31)
        var policy = AnswerPolicy.overDTLS
        var answered: (answer: SessionDescription, session: NegotiatedSession)?

        @discardableResult
        mutating func offer(_ text: String) throws(SDPError) -> NegotiatedSession {
            let next = try OfferAnswer.answer(
                offer: SessionDescription(parsing: text), policy: policy, previous: answered, using: &generator)
            answered = next
            return next.session
        }

        var answer: SessionDescription {
            get throws { try #require(answered).answer }
        }
    }

    @Test("a session of Chromium keeps sources, credentials and places through all that it is offered")
    func wholeSession() throws {
        var session = Session()
        var sessions: [NegotiatedSession] = []
        var answers: [SessionDescription] = []
        for fixture in Fixture.session {
            sessions.append(try session.offer(fixture.text))
            answers.append(try session.answer)
        }
        let first = try #require(sessions.first)
        for (index, (session, answer)) in zip(sessions, answers).enumerated() {
            #expect(answer.origin.sessionID == answers[0].origin.sessionID)
            #expect(answer.origin.sessionVersion == "\(index + 1)")
            #expect(session.cname == first.cname)
            #expect(session.video?.localSSRC == first.video?.localSSRC)
            #expect(session.video?.localRetransmissionSSRC == first.video?.localRetransmissionSSRC)
            #expect(session.audio?.localSSRC == first.audio?.localSSRC)
            #expect(session.video?.index == 1 && session.video?.payloadType == first.video?.payloadType)
            #expect(session.transport?.dtlsRole == .server)
            #expect(session.transport?.remoteFingerprints == first.transport?.remoteFingerprints)
            // Only the restart, the sixth, has new credentials, and those after it keep them.
            #expect((session.transport?.localCredentials == first.transport?.localCredentials) == (index < 5))
            #expect((session.transport?.remoteCredentials == first.transport?.remoteCredentials) == (index < 5))
        }
        #expect(sessions[5].transport == sessions[6].transport)
        #expect(
            sessions.map { $0.screenShare?.direction } == [
                nil, .receiveOnly, .inactive, nil, .receiveOnly, .receiveOnly, .receiveOnly,
            ])
        #expect(sessions.map { $0.screenShare?.mid } == [nil, "2", "2", nil, "3", "3", "3"])
        #expect(sessions[1].screenShare?.localSSRC == sessions[2].screenShare?.localSSRC)
        #expect(sessions[4].screenShare?.localSSRC != sessions[1].screenShare?.localSSRC)
        #expect(answers.map { $0.media.count } == [2, 3, 3, 3, 3, 3, 3])
        #expect(answers[3].media[2].port == 0 && answers[4].media[2].port == 7000)
        #expect(sessions[6].video?.direction == .sendOnly && sessions[5].video?.direction == .sendAndReceive)
    }

    @Test("the same offer again changes nothing but the version")
    func repeated() throws {
        var session = Session()
        let text = try Fixture(name: "chromium-two-videos-datachannel").text
        let first = try session.offer(text)
        let answer = try session.answer
        #expect(try session.offer(text) == first)
        var second = try session.answer
        second.origin.sessionVersion = "1"
        #expect(second == answer)
    }

    @Test("a screen share stays one and the camera the camera when the other is gone")
    func contentStays() throws {
        var session = Session()
        let text = try Fixture(name: "chromium-two-videos-datachannel").text
        try session.offer(text)
        let lines = text.components(separatedBy: "m=video ")
        let withoutCamera = try session.offer(
            [lines[0], "0 " + lines[1].drop { $0 != " " }.dropFirst(), lines[2]].joined(separator: "m=video "))
        #expect(withoutCamera.video == nil && withoutCamera.screenShare?.index == 2)
        #expect(try session.answer.media.map(\.port) == [7000, 0, 7000, 0])
        let back = try session.offer(text)
        #expect(back.video?.index == 1 && back.screenShare?.index == 2)
    }

    @Test("a microphone that is added again, in a line of its own, takes the place of the inactive line")
    func microphoneAgain() throws {
        var session = Session()
        let text = try Fixture(name: "chromium-sendonly").text
        try session.offer(text)
        let sections = text.components(separatedBy: "\r\nm=")
        try #require(sections.count == 3)
        let head = sections[0].replacing("a=group:BUNDLE 0 1", with: "a=group:BUNDLE 0 1 2")
        let removed = sections[1].replacing("a=sendonly", with: "a=inactive")
        let video = sections[2].trimmingCharacters(in: .newlines)
        let again = sections[1].replacing("a=mid:0", with: "a=mid:2")
        let off = try session.offer([sections[0], removed, sections[2]].joined(separator: "\r\nm="))
        #expect(off.audio?.index == 0 && off.audio?.direction == .inactive)
        let on = try session.offer([head, removed, video, again].joined(separator: "\r\nm="))
        #expect(on.audio?.index == 2 && on.audio?.direction == .receiveOnly)
        #expect(on.video == off.video)
        #expect(try session.answer.media.map(\.port) == [0, 7000, 7000])
    }

    @Test("an offer without the lines of one that got no answer ends their streams, and goes on with the others")
    func fewerLines() throws {
        var session = Session()
        let join = try Fixture(name: "chromium-session-1-join").text
        let joined = try session.offer(join)
        // The answer is lost.
        let withScreen = try session.offer(Fixture(name: "chromium-session-2-screen").text)
        try #require(withScreen.screenShare != nil)
        let again = try session.offer(join)
        #expect(again.media.map(\.index) == joined.media.map(\.index) && again.screenShare == nil)
        #expect(again.video?.localSSRC == joined.video?.localSSRC && again.transport == joined.transport)
        #expect(try session.answer.media.count == 2)
        #expect(try session.answer.origin.sessionVersion == "3")
        let later = try session.offer(Fixture(name: "chromium-session-2-screen").text)
        #expect(later.screenShare?.index == withScreen.screenShare?.index)
    }

    @Test(
        "a running session cannot get another certificate, another role or keys in the description",
        arguments: [
            ("A", "B", "certificate"), ("a=setup:actpass", "a=setup:passive", "roles"),
            ("UDP/TLS/RTP/SAVPF", "RTP/SAVPF", "DTLS"),
        ])
    func refused(original: String, replacement: String, reason: String) throws {
        var session = Session()
        let text = try Fixture(name: "chromium-sendrecv").text
        try session.offer(text)
        let lines = text.split(separator: "\r\n").map { line -> String in
            switch reason {
            case "certificate" where line.hasPrefix("a=fingerprint"):
                String(line.replacing(original, with: replacement))
            case "DTLS" where line.hasPrefix("a=fingerprint"): Offers.crypto
            case "roles", "DTLS": String(line.replacing(original, with: replacement))
            default: String(line)
            }
        }
        let error = #expect(throws: SDPError.self) { try session.offer(lines.joined(separator: "\r\n")) }
        guard case .unacceptable = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }

    @Test("an offerer that names its DTLS role can continue")
    func statedRole() throws {
        var session = Session()
        let text = try Fixture(name: "chromium-sendrecv").text
        try session.offer(text)
        #expect(try session.offer(text.replacing("actpass", with: "active")).transport?.dtlsRole == .server)
        var passive = Session()
        let first = try passive.offer(text.replacing("actpass", with: "passive"))
        #expect(first.transport?.dtlsRole == .client)
        #expect(try passive.answer.media[0].values("setup") == ["active"])
        #expect(try passive.offer(text).transport == first.transport)
        #expect(try passive.answer.media[0].values("setup") == ["active"])
    }

    @Test("our client adds screen share, drops its camera and restarts ICE, and each side keeps the other streams")
    func client() throws {
        var negotiation = DTLSNegotiation()
        var parameters = try negotiation.parameters()
        let joined = try negotiation.negotiate(parameters)
        parameters.screenShare = .init(direction: .sendOnly)
        let presenting = try negotiation.negotiate(parameters)
        #expect(presenting.client.screenShare?.direction == .sendOnly)
        #expect(presenting.client.transport == joined.client.transport)
        #expect(presenting.relay.transport == joined.relay.transport)
        #expect(presenting.client.video == joined.client.video && presenting.relay.video == joined.relay.video)

        parameters.video = nil
        let withoutCamera = try negotiation.negotiate(parameters)
        #expect(withoutCamera.client.video == nil && withoutCamera.relay.video == nil)
        #expect(withoutCamera.relay.screenShare?.index == 2)
        #expect(withoutCamera.relay.screenShare == presenting.relay.screenShare)

        parameters.video = .init()
        parameters.transport = try negotiation.parameters(ufrag: "anew").transport
        let restarted = try negotiation.negotiate(parameters)
        #expect(restarted.client.video?.localSSRC == joined.client.video?.localSSRC)
        #expect(restarted.client.transport?.localCredentials.usernameFragment == "anew")
        #expect(restarted.client.transport?.remoteCredentials != joined.client.transport?.remoteCredentials)
        #expect(restarted.client.transport?.remoteCredentials == restarted.relay.transport?.localCredentials)
        #expect(negotiation.offer?.origin.sessionVersion == "4")
        #expect(negotiation.answered?.answer.origin.sessionVersion == "4")
    }

    @Test("keys in descriptions that stay are answered with ours as they were, and new ones with new ones")
    func keys() throws {
        var session = Session()
        let first = try session.offer(Offers.webRTC)
        #expect(try session.offer(Offers.webRTC) == first)
        let other = Offers.webRTC.replacing(Offers.galoisKey, with: "BBECAwQFBgcICQoLDA0OD6ChoqOkpaanqKmqqw==")
        let rekeyed = try session.offer(other)
        #expect(rekeyed.video?.localSSRC == first.video?.localSSRC)
        #expect(rekeyed.video?.keys?.outbound != first.video?.keys?.outbound)
    }
}
