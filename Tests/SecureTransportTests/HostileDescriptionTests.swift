import MediaCore
import Testing

@testable import SecureTransport

@Suite struct HostileDescriptionTests {
    /// Parses, answers and, where that works, checks what must hold of every answer.
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
