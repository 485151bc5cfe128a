import NIOCore
import RTP
import Testing

/// An attack on a relay by a member with valid keys. To add an attack, add a recipe to `all`.
struct HostileRecipe: CustomTestStringConvertible, Sendable {
    /// The attack as a sentence, which a failing test shows.
    var name: String
    /// The steps, in this order.
    var steps: [Step]

    var testDescription: String { name }

    /// A part of an attack.
    enum Step: Sendable {
        /// Take part for this time: receive the packets, and report them honestly.
        case takePart(Duration)
        /// Send datagrams of RTCP, evenly over a time. The closure makes each from its number.
        case control(count: Int, over: Duration, @Sendable (_ index: Int, HostileMember.View) -> [RTCPPacket])
        /// Send RTP packets of video, evenly over a time. The closure makes each from its number.
        case video(count: Int, over: Duration, @Sendable (_ index: Int, HostileMember.View) -> RTPPacket)
    }

    /// Each of them is tried on a relay of its own.
    static let all = [emptyFeedback, feedbackOfNothing]

    /// 400 kB in a second: a clock that jumps half of its circle with each of 20,000 empty reports, and then a true
    /// one. 17,180 such jumps are as many nanoseconds as a 64-bit integer holds.
    static let emptyFeedback = HostileRecipe(
        name: "thousands of empty reports whose clock jumps, and an honest one behind them",
        steps: [
            .takePart(.seconds(2)),
            .control(count: 20_000, over: .seconds(1)) { index, view in
                [
                    .transportFeedback(
                        view.feedback(referenceTime: index.isMultiple(of: 2) ? 0 : -0x80_0000, packets: []))
                ]
            },
            .takePart(.seconds(2)),
        ])

    /// Reports on packets that were never sent, with the largest steps that the format has.
    static let feedbackOfNothing = HostileRecipe(
        name: "reports on packets that were never sent, with extreme times",
        steps: [
            .takePart(.seconds(2)),
            .control(count: 2000, over: .seconds(1)) { index, view in
                let base = view.newestSequence &+ 10_000
                let delta = PacketStatus.deltaUnit * Int(index.isMultiple(of: 3) ? Int16.min : Int16.max)
                let packets = (0..<300).map { PacketStatus(sequence: base &+ $0, receiveDelta: delta) }
                return [.transportFeedback(view.feedback(referenceTime: 0x7F_FFFF, packets: packets))]
            },
            .takePart(.seconds(2)),
        ])
}
