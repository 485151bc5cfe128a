import MediaCore
import RTP
import SDP
import SecureTransport

@testable import PeerConnection

/// A session whose keys the descriptions carry: our end as a connection, and what further offers make of both ends. No
/// time passes.
struct KeyedSession {
    static let now = MonotonicInstant(nanoseconds: 1_000_000_000)
    /// The remote side's address.
    static let source = TransportAddress(ipv4: 0x7f00_0001, port: 20_000)
    private static let policy = AnswerPolicy(publicAddress: TransportAddress(ipv4: 0x7f00_0001, port: 7000))

    let peer: PeerConnection
    /// Our end by the last answer.
    private(set) var session: NegotiatedSession
    /// The remote side's end by the last answer.
    private(set) var remote: NegotiatedSession
    private var parameters: OfferParameters
    private var pending: PendingOffer
    private var answer: SessionDescription
    private var random: SeededGenerator

    init(_ parameters: OfferParameters = OfferParameters(address: KeyedSession.source), seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let made = OfferAnswer.makeOffer(parameters, using: &random)
        let answered = try OfferAnswer.answer(offer: made.offer, policy: Self.policy, using: &random)
        peer = try PeerConnection(
            session: answered.session,
            configuration: PeerConfiguration(rateLimits: KeyedPath.limits, trustsRemoteDescription: true, seed: 5),
            wallClock: WallClock(ntpAtOrigin: NTPTime(rawValue: 3_900_000_000 << 32)), now: Self.now)
        session = answered.session
        remote = try OfferAnswer.complete(pending: made.pending, answer: answered.answer)
        self.parameters = parameters
        pending = made.pending
        answer = answered.answer
        self.random = random
    }

    /// Has the remote side make a further offer, which is answered and not applied yet.
    ///
    /// - Parameter keepsKeys: False if the offer is made without the one before.
    mutating func offer(keepsKeys: Bool = true, _ adjust: (inout OfferParameters) -> Void = { _ in }) throws {
        adjust(&parameters)
        let made = OfferAnswer.makeOffer(parameters, previous: keepsKeys ? pending : nil, using: &random)
        let answered = try OfferAnswer.answer(
            offer: made.offer, policy: Self.policy, previous: (answer: answer, session: session), using: &random)
        remote = try OfferAnswer.complete(pending: made.pending, answer: answered.answer)
        session = answered.session
        pending = made.pending
        answer = answered.answer
    }

    /// The same, and our end applies it.
    mutating func renegotiate(
        keepsKeys: Bool = true, _ adjust: (inout OfferParameters) -> Void = { _ in }
    ) throws {
        try offer(keepsKeys: keepsKeys, adjust)
        try peer.update(session: session, now: Self.now)
    }
}
