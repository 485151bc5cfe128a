import MediaCore
import SecureTransport

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
