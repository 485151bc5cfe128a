import CongestionControl
import Foundation
import H264
import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import SDP
import SecureTransport
import Testing
import VideoCoding

@testable import Conference

/// A camera and receivers on a path with bursts of loss. The path's round trip is too long for retransmission.
final class LossyCall {
    let call: VirtualCall
    var watchers: [TestClient] = []
    /// The frames that the encoders made, in order.
    private(set) var encoded: [EncodedPicture] = []
    /// The times at which packets to the first watcher get lost.
    var bursts: [ClosedRange<MonotonicInstant>] = []

    init(
        watchers count: Int = 1, encoders: Int? = nil, backEnd: EncoderBackEnd = .openH264,
        rate: BitRate = .kilobits(600), roundTrip: Duration = .milliseconds(500), loss: LossModel = .none,
        adjust: (inout OfferParameters) -> Void = { _ in }
    ) throws {
        call = VirtualCall {
            $0.rateLimits = RateLimits(minimum: .kilobits(300), start: rate, maximum: rate)
            $0.maximumEncoders = encoders
            $0.encoder = backEnd
            $0.hasLadder = false
        }
        let camera = try call.join(
            "Camera", colour: .green, video: .sendOnly, audio: nil, dimensions: Scenery.dimensions,
            rateLimits: RateLimits(minimum: .megabits(2), start: .megabits(2), maximum: .megabits(2)))
        camera.pictures = Scenery.pictures
        for index in 0..<count {
            let watcher = try call.join(
                "Watcher \(index)", video: .receiveOnly, audio: nil,
                downlink: LinkProfile(rate: .unlimited, delay: roundTrip - .milliseconds(10), loss: loss),
                adjust: adjust)
            watcher.recordsFrames = true
            watchers.append(watcher)
        }
        call.onEncoded = { [unowned self] in encoded.append($0) }
        call.drops = { [unowned self] datagram, isDownlink, client in
            // RTP of any kind; all other packets get through (RFC 7983).
            isDownlink && client === watchers[0]
                && (128...191).contains(datagram.getInteger(at: 0, as: UInt8.self) ?? 0)
                && !(192...223).contains(datagram.getInteger(at: 1, as: UInt8.self) ?? 0)
                && bursts.contains { $0.contains(self.call.now) }
        }
    }

    /// Loses all packets that leave within `duration` from now.
    func lose(for duration: Duration) { bursts.append(call.now...(call.now + duration)) }

    func downlink(_ index: Int = 0) throws -> DownlinkSnapshot {
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        return try #require(room.participants.first { $0.id == watchers[index].participantID }).downlink
    }

    /// The longest time from one picture to the next, from an instant on.
    func longestGap(since start: MonotonicInstant) -> Duration {
        let arrivals = watchers[0].arrivals.filter { $0 >= start }
        return zip(arrivals, arrivals.dropFirst()).map { $1 - $0 }.max() ?? .seconds(99)
    }

    /// The frames with which the picture came back after losses.
    func repairs(since index: Int) -> Repairs {
        Repairs(encoded[index...].compactMap(\.frame).filter { $0.isKeyframe || $0.isRefresh })
    }
}

/// The frames that restored the picture: their number, mean size and mean QP.
struct Repairs: CustomStringConvertible {
    var count: Int
    var bytes: Double
    var qp: Double

    init(_ frames: [EncodedFrame]) {
        count = frames.count
        bytes = frames.reduce(0) { $0 + Double($1.size.bytes) } / Double(max(1, frames.count))
        qp = frames.reduce(0) { $0 + Double($1.statistics.averageQP ?? 51) } / Double(max(1, frames.count))
    }

    /// The estimated size at another QP: it halves with every six steps.
    func bytes(at other: Double) -> Double { bytes * exp2((qp - other) / 6) }

    var description: String { "\(count) of \(Int(bytes)) bytes, quantised with \(Int(qp.rounded()))" }
}

extension EncodedFrame {
    /// True if it begins with a message.
    var isRefresh: Bool { (try? sample.nalUnits().first?.type) == .sei }
}
