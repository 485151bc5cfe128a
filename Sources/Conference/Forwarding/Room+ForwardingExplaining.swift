import Compositing
import MediaCore
import PeerConnection

extension Room {
    func forwardingSnapshot() -> RoomForwardingSnapshot {
        RoomForwardingSnapshot(
            receivers: participants.count { $0.forwarding.source != nil },
            audioReceivers: participants.count { $0.audioForwarding.source != nil }, packets: forwarding.packets,
            switches: forwarding.switches
                &+ participants.reduce(0) { $0 &+ $1.forwarding.switches &+ $1.audioForwarding.switches })
    }

    /// Whose packets a receiver is sent; nil where an encoder's frames are.
    func forwardingSnapshot(of receiver: Participant) -> ForwardingSnapshot? {
        guard let source = receiver.forwarding.source, let sender = participant(source.participant) else { return nil }
        return ForwardingSnapshot(participant: sender.publicID, content: source.content)
    }

    /// Whose packets of audio a receiver is sent; nil where it is sent the mix.
    func audioForwardingSource(of receiver: Participant) -> Participant? {
        receiver.audioForwarding.source.flatMap { participant($0) }
    }

    /// The size of the pictures that a receiver is sent as they are.
    func passedOnDimensions(to receiver: Participant) -> VideoDimensions? {
        guard let source = receiver.forwarding.source,
            let pipeline = participant(source.participant)?.pipeline(for: source.content),
            let size = pipeline.forwarding.format?.dimensions
        else { return nil }
        return pipeline.forwarding.rotation.upright(size)
    }

    /// Why a receiver is sent what it is sent.
    func explanation(for receiver: Participant, now: MonotonicInstant) -> String? {
        guard !receiver.peer.isPausedForSilence else {
            return "Nothing is sent to it: no authentic packet has come from it for "
                + "\(Int(clamping: configuration.silenceLimit.seconds)) s. Sending goes on with the next one."
        }
        let audio = audioForwardingSource(of: receiver).map { "The audio is \($0.name)'s as it comes, not mixed." }
        let sentences = [pictureExplanation(for: receiver, now: now), audio].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private func pictureExplanation(for receiver: Participant, now: MonotonicInstant) -> String? {
        guard let source = receiver.forwarding.source else {
            return encoding.explanation(for: receiver, now: now).map { text in
                why(receiver).map { "\(text) \($0)" } ?? text
            }
        }
        let name = participant(source.participant)?.name ?? "someone who left"
        let whose = source.content == .screenShare ? "\(name)'s screen" : name
        var text = "It is sent the packets of \(whose) as they are, which is all that it sees."
        if let obstacle = receiver.forwarding.obstacle, !receiver.forwarding.isPassing {
            text += " That ends with the next keyframe of an encoder: \(obstacle.words)."
        }
        return text
    }

    /// Why a receiver of an encoder's frames is not sent a source's packets; nil where nobody would expect that.
    private func why(_ receiver: Participant) -> String? {
        if receiver.forwarding.awaited != nil { return "It is sent its one source's packets from a keyframe on." }
        guard let obstacle = receiver.forwarding.obstacle, obstacle != .composed else { return nil }
        return "It sees one source alone, but is not sent that one's packets: \(obstacle.words)."
    }
}
