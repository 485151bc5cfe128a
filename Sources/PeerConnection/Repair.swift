import CongestionControl
import MediaCore
import RTP
import SDP

/// The present repair of losses in a receiver's streams.
public enum LossRepair: String, Codable, Hashable, Sendable, CaseIterable {
    /// There are no losses, or no possible repair.
    case none
    /// Missing packets are sent again on request.
    case retransmission = "rtx"
    /// Video is protected in advance (FlexFEC).
    case protection = "fec"
    /// Audio packets repeat earlier ones (RED).
    case redundancy = "red"
    case retransmissionAndRedundancy = "rtx+red"
    case protectionAndRedundancy = "fec+red"
}

/// Chooses how the losses of our streams are repaired: how much forward error correction video is given, and how often
/// audio is repeated.
struct Repair {
    private var policy = ProtectionPolicy()
    private var redundancy = RedundancyPolicy()
    private var lastRetransmission: MonotonicInstant?

    /// The time after the last retransmission for which the method counts as in use.
    private static let retransmissionMemory = Duration.seconds(5)

    // MARK: Losses

    /// Packets were sent again.
    mutating func resent(now: MonotonicInstant) { lastRetransmission = now }

    /// Counts the losses in feedback on single packets.
    mutating func record(
        _ report: TransportFeedbackReport, roundTripTime: Duration?, isCongested: Bool, now: MonotonicInstant
    ) {
        policy.congestionChanged(isCongested: isCongested, now: now)
        for result in report.results {
            if !result.wasReportedMissing {
                policy.packet(isLost: result.receiveTime == nil, now: now)
            } else if result.receiveTime != nil {
                policy.packetFound(now: now)
            }
        }
        if let roundTripTime { policy.measured(roundTripTime: roundTripTime) }
    }

    /// Counts the losses in a report on a video stream, if there is no feedback on single packets.
    mutating func record(reportOn sender: VideoSendStream, isCongested: Bool, now: MonotonicInstant) {
        policy.congestionChanged(isCongested: isCongested, now: now)
        let packets = Int(clamping: sender.packetsReportedOn)
        policy.reported(
            lost: Int(clamping: (sender.statistics.fractionLost * Double(packets)).rounded()), of: packets, now: now)
        if let roundTripTime = sender.statistics.roundTripTime { policy.measured(roundTripTime: roundTripTime) }
    }

    // MARK: Repairs

    /// Sets the repair of all lines according to the losses.
    ///
    /// - Parameter hasFeedback: True if there is feedback on single packets.
    mutating func update(_ lines: MediaLines, hasFeedback: Bool, now: MonotonicInstant) {
        let canRetransmit = lines.allSatisfy { !$0.sendsVideo || $0.negotiated.feedback.nack }
        if policy.update(canRetransmit: canRetransmit, now: now) { apply(to: lines) }
        redundancy.update(
            fractionLost: hasFeedback ? policy.loss.fraction : lines.audioFractionLost,
            meanBurst: policy.loss.meanBurst, now: now)
        lines.audio?.audioSender?.redundancyDepth = redundancy.depth
    }

    /// Gives our streams, new ones too, the protection that was decided.
    func apply(to lines: MediaLines) {
        for line in lines { line.videoSender?.setProtection(policy.protection) }
    }

    /// Bits of forward error correction for each bit of video.
    func overhead(of lines: MediaLines) -> Double {
        guard policy.protection.isActive else { return 0 }
        var overhead = 0.0
        for line in lines where line.sendsVideo {
            guard let encoder = line.videoSender?.flexFEC, encoder.isActive else { continue }
            // Before the first measurement, the requested overhead.
            overhead = max(overhead, encoder.overhead > 0 ? encoder.overhead : policy.protection.rate)
        }
        return overhead
    }

    /// The repair packets for each packet of video.
    func protectionRate(of lines: MediaLines) -> Double { overhead(of: lines) > 0 ? policy.protection.rate : 0 }

    /// The repair in use.
    func inUse(on lines: MediaLines, now: MonotonicInstant) -> LossRepair {
        let retransmits = lastRetransmission.map { now - $0 < Self.retransmissionMemory } ?? false
        switch (overhead(of: lines) > 0, lines.audioRepetitions > 0) {
        case (true, true): return .protectionAndRedundancy
        case (true, false): return .protection
        case (false, true): return retransmits ? .retransmissionAndRedundancy : .redundancy
        case (false, false): return retransmits ? .retransmission : .none
        }
    }

    /// Explains the present repair in a sentence or two; nil without repair.
    func explanation(on lines: MediaLines, now: MonotonicInstant) -> String? {
        let loss = Self.percent(policy.loss.fraction)
        var sentences: [String] = []
        switch inUse(on: lines, now: now) {
        case .none, .redundancy: break
        case .retransmission, .retransmissionAndRedundancy:
            sentences.append("What it loses (\(loss)) is sent again when it asks for it.")
        case .protection, .protectionAndRedundancy:
            let milliseconds = policy.roundTripTime.map { Int(clamping: $0.milliseconds.rounded()) }
            let roundTrip = milliseconds.map { "\($0) ms away" } ?? "far away"
            sentences.append(
                "It loses \(loss) and is \(roundTrip), too far for sending again: "
                    + "\(Self.percent(policy.protection.rate)) of forward error correction is added.")
        }
        let repetitions = lines.audioRepetitions
        if repetitions > 0 { sentences.append("Each audio packet repeats the last \(repetitions).") }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private static func percent(_ fraction: Double) -> String {
        "\(Int(clamping: (min(max(fraction, 0), 1) * 100).rounded())) %"
    }
}

extension MediaLines {
    /// The number of times that each audio payload is sent again.
    var audioRepetitions: Int { audio?.audioSender?.repetitions ?? 0 }
}
