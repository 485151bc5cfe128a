import MediaCore
import PeerConnection
import RoomAPI

extension Room {
    func forwardingSnapshot() -> RoomForwardingSnapshot {
        RoomForwardingSnapshot(
            receivers: forwarding.receiverCount, audioReceivers: audio.forwardingCount,
            packets: forwarding.packets &+ audio.packetsForwarded, switches: forwarding.switches &+ audio.switches)
    }

    /// The source whose packets a receiver gets; nil if it gets an encoder's frames.
    func forwardingSnapshot(of receiver: Participant) -> ForwardingSnapshot? {
        guard let source = forwarding.link(of: receiver.id)?.source, let sender = participant(source.participant) else {
            return nil
        }
        return ForwardingSnapshot(participant: sender.publicID, content: source.content)
    }

    /// The participant whose audio packets a receiver gets; nil if it gets the mix.
    func audioForwardingSource(of receiver: Participant) -> Participant? {
        audio.state(of: receiver.id)?.link.source.flatMap { participant($0) }
    }

    /// Explains a receiver's pictures.
    func explanation(for receiver: Participant, now: MonotonicInstant) -> String? {
        guard !receiver.peer.isPausedForSilence else {
            return "Nothing is sent to it: no authentic packet has come from it for "
                + "\(Int(clamping: configuration.silenceLimit.seconds)) s. Sending continues with the next one."
        }
        let audio = audioForwardingSource(of: receiver).map { "The audio is \($0.name)'s as it comes, not mixed." }
        let sentences = [pictureExplanation(for: receiver, now: now), audio].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// Explains the pictures that a receiver gets from its encoder.
    func encoderExplanation(for receiver: Participant, now: MonotonicInstant) -> String? {
        let text = encoders.explanation(
            for: receiver.id, repair: receiver.peer.repairExplanation(now: now), now: now)
        guard sharesView(receiver) else { return text }
        return text.map { "\($0) It sees itself, because all get the same picture: there is no encoder for each." }
    }

    /// Returns true if a participant sees itself only because everyone gets the same picture.
    func sharesView(_ participant: Participant) -> Bool {
        participant.isSource && participant.selfView != .always && forwarding.isComposed(participant.id)
            && showsSelf(participant)
    }

    private func pictureExplanation(for receiver: Participant, now: MonotonicInstant) -> String? {
        let link = forwarding.link(of: receiver.id)
        guard let link, let source = link.source else {
            return encoderExplanation(for: receiver, now: now).map { text in
                why(link).map { "\(text) \($0)" } ?? text
            }
        }
        let name = participant(source.participant)?.name ?? "someone who left"
        let whose = source.content == .screenShare ? "\(name)'s screen" : name
        var text = "It gets the packets of \(whose) unchanged, because it sees nothing else."
        if let obstacle = link.obstacle, !link.isPassing {
            text += " This ends with the next keyframe of an encoder: \(obstacle.words)."
        }
        return text
    }

    /// Explains why a receiver gets an encoder's frames and not a source's packets; nil if nobody would expect them.
    private func why(_ link: ForwardingLink?) -> String? {
        if link?.awaited != nil { return "It gets its only source's packets from the next keyframe on." }
        guard let obstacle = link?.obstacle, obstacle != .composed else { return nil }
        return "It sees only one source, but does not get its packets: \(obstacle.words)."
    }
}
