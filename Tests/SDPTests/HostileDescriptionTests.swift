import HostileBytes
import MediaCore
import Testing

@testable import SDP
@testable import SecureTransport

@Suite struct HostileDescriptionTests {
    /// Parses and answers; if that works, checks the conditions that hold for every answer.
    private func answer(_ text: String, using generator: inout SeededGenerator) throws -> Bool {
        guard let offer = try? SessionDescription(parsing: text),
            let (answer, session) = try? OfferAnswer.answer(
                offer: offer, policy: AnswerPolicy(publicAddress: Answered.relay), using: &generator)
        else { return false }
        #expect(answer.media.count == offer.media.count)
        #expect(try SessionDescription(parsing: answer.encode()) == answer)
        #expect(answer.media.count { $0.port != 0 } == session.media.count)
        return true
    }

    @Test("changed offers are answered or refused, never a trap", arguments: Offers.all)
    func mutatedOffers(offer: Offers.Sample) throws {
        var generator = SeededGenerator(seed: 77)
        let bytes = Array(offer.text.utf8)
        var answered = 0
        let count = 2_500
        for _ in 0..<count {
            if try answer(String(decoding: generator.mutate(bytes), as: UTF8.self), using: &generator) { answered += 1 }
        }
        // Both ways were taken.
        #expect(answered > 0 && answered < count)
    }

    @Test(
        "mutated offers over DTLS join, or continue a session, or are refused, and never trap",
        arguments: Fixture.session)
    func mutatedSessions(fixture: Fixture) throws {
        var generator = SeededGenerator(seed: 82)
        let before = try OfferAnswer.answer(
            offer: try #require(Fixture.session.first).offer, policy: .overDTLS, using: &generator)
        let bytes = Array(try fixture.text.utf8)
        var outcomes = (joined: 0, continued: 0, refused: 0)
        for _ in 0..<120 {
            let text = String(decoding: generator.mutate(bytes), as: UTF8.self)
            guard let offer = try? SessionDescription(parsing: text) else { continue }
            for previous in [nil, before] {
                guard
                    let (answer, session) = try? OfferAnswer.answer(
                        offer: offer, policy: .overDTLS, previous: previous, using: &generator)
                else {
                    outcomes.refused += 1
                    continue
                }
                if previous == nil { outcomes.joined += 1 } else { outcomes.continued += 1 }
                #expect(answer.media.count == offer.media.count)
                #expect(try SessionDescription(parsing: answer.encode()) == answer)
                #expect(answer.media.count { $0.port != 0 } == session.media.count)
                let sources = session.media.flatMap { [$0.localSSRC, $0.localRetransmissionSSRC].compactMap(\.self) }
                #expect(Set(sources).count == sources.count)
                #expect(session.media.count { $0.kind == .video && $0.content == .main } <= 1)
                #expect(session.media.count { $0.kind == .video && $0.content == .screenShare } <= 1)
                #expect(session.media.count { $0.kind == .audio } <= 1)
                #expect(session.transport != nil || session.media.allSatisfy { $0.keys != nil })
            }
        }
        #expect(outcomes.joined > 0 && outcomes.continued > 0 && outcomes.refused > 0)
    }

    @Test("changed offers of all programs are answered or refused, never a trap", arguments: Fixture.joining)
    func mutatedFixtures(fixture: Fixture) throws {
        var generator = SeededGenerator(seed: 83)
        let bytes = Array(try fixture.text.utf8)
        for _ in 0..<120 {
            let text = String(decoding: generator.mutate(bytes), as: UTF8.self)
            guard let offer = try? SessionDescription(parsing: text),
                let (answer, session) = try? OfferAnswer.answer(offer: offer, policy: .overDTLS, using: &generator)
            else { continue }
            #expect(answer.media.map(\.kind) == offer.media.map(\.kind))
            #expect(answer.media.count { $0.port != 0 } == session.media.count)
        }
    }

    @Test("offers with lines dropped, doubled and moved are answered or refused, never a trap")
    func shuffledLines() throws {
        var generator = SeededGenerator(seed: 78)
        let lines = Offers.all.flatMap { $0.text.split(whereSeparator: \.isNewline).map(String.init) }
        var answered = 0
        for _ in 0..<3_000 {
            var offer = Offers.video(Offers.h264, Offers.crypto).split(whereSeparator: \.isNewline).map(String.init)
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                let index = Int.random(in: 5...offer.count, using: &generator)
                offer.insert(lines.randomElement(using: &generator) ?? "", at: index)
            }
            if try answer(offer.joined(separator: "\n"), using: &generator) { answered += 1 }
        }
        #expect(answered > 0)
    }

    @Test("random lines are refused")
    func randomLines() {
        var generator = SeededGenerator(seed: 79)
        let head = Array(Offers.session.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")]
        for _ in 0..<5_000 {
            let tail = (0..<Int.random(in: 1...80, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            _ = try? SessionDescription(parsing: String(decoding: head + tail, as: UTF8.self))
            _ = try? SessionDescription(parsing: String(decoding: tail, as: UTF8.self))
        }
    }

    @Test("changed answers complete or are refused, never a trap")
    func mutatedAnswers() throws {
        var generator = SeededGenerator(seed: 80)
        let (offer, pending) = OfferAnswer.makeOffer(OfferParameters(address: Answered.relay), using: &generator)
        let (answer, _) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: Answered.relay), using: &generator)
        let bytes = Array(answer.encode().utf8)
        var completed = 0
        for _ in 0..<3_000 {
            let text = String(decoding: generator.mutate(bytes), as: UTF8.self)
            guard let changed = try? SessionDescription(parsing: text) else { continue }
            if (try? OfferAnswer.complete(pending: pending, answer: changed)) != nil { completed += 1 }
        }
        #expect(completed > 0)
    }

    @Test("changed answers over DTLS complete or are refused, never a trap")
    func mutatedDTLSAnswers() throws {
        var negotiation = DTLSNegotiation()
        var parameters = try negotiation.parameters()
        parameters.screenShare = .init(direction: .sendOnly)
        _ = try negotiation.negotiate(parameters)
        let pending = try #require(negotiation.pending)
        let bytes = Array(try #require(negotiation.answered).answer.encode().utf8)
        var generator = SeededGenerator(seed: 84)
        var outcomes = (completed: 0, refused: 0)
        for _ in 0..<1_500 {
            let text = String(decoding: generator.mutate(bytes), as: UTF8.self)
            guard let changed = try? SessionDescription(parsing: text) else { continue }
            if let session = try? OfferAnswer.complete(pending: pending, answer: changed) {
                outcomes.completed += 1
                #expect(session.transport?.remoteFingerprints.isEmpty == false)
            } else {
                outcomes.refused += 1
            }
        }
        #expect(outcomes.completed > 0 && outcomes.refused > 0)
    }

    @Test("the largest offer that is parsed is answered")
    func largest() throws {
        var generator = SeededGenerator(seed: 81)
        let media = "m=video 9 RTP/SAVPF \((0..<128).map(String.init).joined(separator: " "))\r\n"
        var text = Offers.session.joined(separator: "\r\n") + "\r\n"
        for _ in 0..<32 {
            text += media + (0..<60).map { "a=rtpmap:\($0) H264/90000\r\n" }.joined()
        }
        text += Offers.crypto + "\r\n"
        #expect(text.utf8.count < SessionDescription.maximumSize)
        // Only the last of all has keys.
        let offer = try SessionDescription(parsing: text)
        let (_, session) = try OfferAnswer.answer(
            offer: offer, policy: AnswerPolicy(publicAddress: Answered.relay), using: &generator)
        #expect(session.media.map(\.index) == [31])
    }
}
