import MediaCore
import RTP

@testable import CongestionControl

/// The instant `milliseconds` after the origin.
func at(_ milliseconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds * 1e6))
}

func bytes(_ count: Int) -> DataSize { DataSize(bytes: count) }

extension DataSize {
    static let packet = DataSize(bytes: 1200)
}

extension RateLimits {
    static let test = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(8))
}

/// A controller with a path: packets of 1200 bytes at the target, feedback each 50 ms, and only the queue and loss that
/// the closures return.
struct SimplePath {
    var controller: GoogleCongestionController
    var now = MonotonicInstant.zero
    var decision: ControlDecision
    var roundTripTime = Duration.milliseconds(50)

    private var sequence: Int64 = 0
    private var unreported: [PacketResult] = []
    private var reports: [(due: MonotonicInstant, results: [PacketResult])] = []
    private var budget = 0.0

    init(limits: RateLimits = .test) {
        controller = GoogleCongestionController(limits: limits, now: .zero)
        decision = controller.advance(now: .zero)
    }

    /// Runs for a time; `deliver` says of each packet how long it takes, or nil when it is lost.
    mutating func run(
        for duration: Duration, sending: Bool = true, feedback: Bool = true, rate: BitRate? = nil,
        deliver: (SentPacket) -> Duration? = { _ in .milliseconds(25) }
    ) {
        let end = now + duration
        while now < end {
            now += .milliseconds(5)
            if sending {
                budget += Double((rate ?? decision.targetBitRate).dataSize(over: .milliseconds(5)).bytes)
                while budget >= 1200 {
                    budget -= 1200
                    send(deliver: deliver)
                }
            }
            if now.milliseconds % 50 == 0, !unreported.isEmpty {
                if feedback { reports.append((now + roundTripTime - .milliseconds(25), unreported)) }
                unreported.removeAll()
            }
            while let first = reports.first, first.due <= now {
                reports.removeFirst()
                controller.feedbackReceived(
                    TransportFeedbackReport(results: first.results, feedbackTime: now, dataInFlight: .zero), now: now)
            }
            decision = controller.advance(now: now)
        }
    }

    private mutating func send(deliver: (SentPacket) -> Duration?) {
        let packet = SentPacket(transportSequence: sequence, size: .packet, sendTime: now)
        sequence += 1
        controller.packetSent(packet, now: now)
        unreported.append(PacketResult(sent: packet, receiveTime: deliver(packet).map { now + $0 }))
    }
}
