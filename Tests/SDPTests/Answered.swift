import MediaCore
import SecureTransport
import Testing

@testable import SDP

/// An answer with the negotiated media.
struct Answered {
    var answer: SessionDescription
    var session: NegotiatedSession

    static let relay = TransportAddress(ipv4: 0xCB00_7105, port: 7000)

    init(_ offer: String, policy: AnswerPolicy = AnswerPolicy(publicAddress: relay)) throws(SDPError) {
        var generator = SeededGenerator(seed: 3)
        (answer, session) = try OfferAnswer.answer(
            offer: SessionDescription(parsing: offer), policy: policy, using: &generator)
    }

    static func error(_ offer: String, policy: AnswerPolicy = AnswerPolicy(publicAddress: relay)) -> SDPError? {
        do {
            _ = try Answered(offer, policy: policy)
            return nil
        } catch { return error }
    }
}

extension PendingOffer {
    /// Expects that an answer does not fit the offer when another text stands in it.
    func expectMismatch(
        of answer: SessionDescription, replacing original: String, with replacement: String, reason: String
    ) throws {
        let text = answer.encode()
        #expect(text.contains(original))
        let changed = try SessionDescription(parsing: text.replacing(original, with: replacement))
        let error = #expect(throws: SDPError.self) {
            _ = try OfferAnswer.complete(pending: self, answer: changed)
        }
        guard case .mismatchedAnswer = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
}
