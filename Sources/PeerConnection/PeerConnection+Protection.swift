import CongestionControl
package import MediaCore
import NIOCore
package import RTP
import SDP
import SecureTransport

/// Which repair of loss a receiver's streams are given now.
public enum LossRepair: String, Codable, Hashable, Sendable, CaseIterable {
    /// Nothing is lost, or nothing can be done about it.
    case none
    /// What is missing is sent again when it is asked for.
    case retransmission = "rtx"
    /// Video is protected in advance (FlexFEC).
    case protection = "fec"
    /// Audio packets repeat earlier ones (RED).
    case redundancy = "red"
    case retransmissionAndRedundancy = "rtx+red"
    case protectionAndRedundancy = "fec+red"
}

extension PeerConnection {
    /// What forward error correction adds to each bit of video.
    var protectionOverhead: Double {
        guard protection.protection.isActive else { return 0 }
        var overhead = 0.0
        for line in lines.indices {
            guard let encoder = lines[line].videoSender?.flexFEC, encoder.isActive else { continue }
            // Before anything was measured, what is asked for.
            overhead = max(overhead, encoder.overhead > 0 ? encoder.overhead : protection.protection.rate)
        }
        return overhead
    }

    /// How often each audio payload is sent again.
    var audioRepetitions: Int { audioLine.flatMap { lines[$0].audioSender?.repetitions } ?? 0 }

    /// The repair in use.
    func repair(now: MonotonicInstant) -> LossRepair {
        let retransmits = lastRetransmission.map { now - $0 < Self.retransmissionMemory } ?? false
        switch (protectionOverhead > 0, audioRepetitions > 0) {
        case (true, true): return .protectionAndRedundancy
        case (true, false): return .protection
        case (false, true): return retransmits ? .retransmissionAndRedundancy : .redundancy
        case (false, false): return retransmits ? .retransmission : .none
        }
    }

    /// Retransmission is in use for so long after the last.
    private static let retransmissionMemory = Duration.seconds(5)

    /// Why the repair in use is in use, in a sentence or two; nil where there is none.
    package func repairExplanation(now: MonotonicInstant) -> String? {
        let loss = percent(protection.loss.fraction)
        var sentences: [String] = []
        switch repair(now: now) {
        case .none, .redundancy: break
        case .retransmission, .retransmissionAndRedundancy:
            sentences.append("What it loses (\(loss)) is sent again when it asks for it.")
        case .protection, .protectionAndRedundancy:
            let milliseconds = protection.roundTripTime.map { Int(clamping: $0.milliseconds.rounded()) }
            let roundTrip = milliseconds.map { "\($0) ms away" } ?? "far away"
            sentences.append(
                "It loses \(loss) and is \(roundTrip), too far for sending again: "
                    + "\(percent(protection.protection.rate)) of forward error correction is added.")
        }
        if audioRepetitions > 0 { sentences.append("Each audio packet repeats the last \(audioRepetitions).") }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private func percent(_ fraction: Double) -> String {
        "\(Int(clamping: (min(max(fraction, 0), 1) * 100).rounded())) %"
    }

    /// Counts what feedback says was lost, and sets the repair by it.
    func recordLosses(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        recordCongestion(now: now)
        for result in report.results {
            if !result.wasReportedMissing {
                protection.packet(isLost: result.receiveTime == nil, now: now)
            } else if result.receiveTime != nil {
                protection.packetFound(now: now)
            }
        }
        if let roundTripTime = feedbackAdapter.roundTripTime { protection.measured(roundTripTime: roundTripTime) }
        updateRepair(now: now)
    }

    /// The same from a report on a line's video, where there is no feedback on single packets.
    func recordLosses(reportedOn line: Int, now: MonotonicInstant) {
        guard counters.transportFeedbackReceived == 0, let sender = lines[line].videoSender else { return }
        recordCongestion(now: now)
        let packets = Int(clamping: sender.packetsReportedOn)
        protection.reported(
            lost: Int(clamping: (sender.statistics.fractionLost * Double(packets)).rounded()), of: packets, now: now)
        if let roundTripTime = sender.statistics.roundTripTime { protection.measured(roundTripTime: roundTripTime) }
        updateRepair(now: now)
    }

    private func recordCongestion(now: MonotonicInstant) {
        protection.congestionChanged(
            isCongested: controller.snapshot.networkState == .overusing
                || pacer.expectedDrainTime > LatencyBudget.beforeFrame, now: now)
    }

    /// Sets the repair by what is known of losses.
    func updateRepair(now: MonotonicInstant) {
        let canRetransmit = lines.allSatisfy { $0.videoSender == nil || $0.negotiated.feedback.nack }
        if protection.update(canRetransmit: canRetransmit, now: now) { applyProtection() }
        let hasFeedback = counters.transportFeedbackReceived > 0
        redundancy.update(
            fractionLost: hasFeedback ? protection.loss.fraction : audioFractionLost,
            meanBurst: protection.loss.meanBurst, now: now)
        if let audioLine { lines[audioLine].audioSender?.redundancyDepth = redundancy.depth }
    }

    /// Gives our streams, new ones too, the protection that was decided.
    func applyProtection() {
        for line in lines.indices { lines[line].videoSender?.setProtection(protection.protection) }
    }

    // MARK: Sending

    /// Protects a packet that leaves.
    func protect(_ packet: RTPPacket, line: Int, now: MonotonicInstant) {
        enqueue(repair: lines[line].videoSender?.protect(packet, now: now) ?? [], line: line, now: now)
    }

    /// Sends what repairs packets that no others have followed.
    func sendDueRepair(now: MonotonicInstant) {
        for line in lines.indices {
            guard let deadline = lines[line].videoSender?.flexFEC?.nextDeadline, deadline <= now else { continue }
            enqueue(repair: lines[line].videoSender?.repairDue(now: now) ?? [], line: line, now: now)
        }
    }

    private func enqueue(repair packets: [RTPPacket], line: Int, now: MonotonicInstant) {
        for packet in packets {
            let size = DataSize(bytes: packet.payload.readableBytes) + PeerConfiguration.packetOverhead
            budget.spend(size, now: now)
            pacer.enqueue(.repair(packet, line: line), size: size, priority: .repair, now: now)
        }
    }
}
