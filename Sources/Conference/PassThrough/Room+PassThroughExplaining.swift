import Compositing
import MediaCore
import PeerConnection

extension Room {
    func passThroughSnapshot() -> RoomPassThroughSnapshot {
        RoomPassThroughSnapshot(
            receivers: participants.count { $0.passThrough.source != nil },
            audioReceivers: participants.count { $0.audioPassThrough.source != nil }, packets: passThrough.packets,
            switches: passThrough.switches
                &+ participants.reduce(0) { $0 &+ $1.passThrough.switches &+ $1.audioPassThrough.switches })
    }

    /// Whose packets a receiver is sent; nil where an encoder's frames are.
    func passThroughSnapshot(of receiver: Participant) -> PassThroughSnapshot? {
        guard let source = receiver.passThrough.source, let sender = participant(source.participant) else { return nil }
        return PassThroughSnapshot(participant: sender.publicID, content: source.content)
    }

    /// Whose packets of sound a receiver is sent; nil where it is sent the mix.
    func audioPassThroughSource(of receiver: Participant) -> Participant? {
        receiver.audioPassThrough.source.flatMap { participant($0) }
    }

    /// The size of the pictures that a receiver is sent as they are.
    func passedOnDimensions(to receiver: Participant) -> VideoDimensions? {
        guard let source = receiver.passThrough.source,
            let pipeline = participant(source.participant)?.pipeline(for: source.content),
            let size = pipeline.passThrough.format?.dimensions
        else { return nil }
        return pipeline.passThrough.rotation.upright(size)
    }

    /// Why a receiver is sent what it is sent.
    func explanation(for receiver: Participant, now: MonotonicInstant) -> String? {
        guard !receiver.peer.isPausedForSilence else {
            return "Nothing is sent to it: no authentic packet has come from it for "
                + "\(Int(clamping: configuration.silenceLimit.seconds)) s. Sending goes on with the next one."
        }
        let sound = audioPassThroughSource(of: receiver).map { "The sound is \($0.name)'s as it comes, not mixed." }
        let sentences = [pictureExplanation(for: receiver, now: now), sound].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    private func pictureExplanation(for receiver: Participant, now: MonotonicInstant) -> String? {
        guard let source = receiver.passThrough.source else {
            return encoding.explanation(for: receiver, now: now).map { text in
                why(receiver).map { "\(text) \($0)" } ?? text
            }
        }
        let name = participant(source.participant)?.name ?? "someone who left"
        let whose = source.content == .slides ? "\(name)'s screen" : name
        var text = "It is sent the packets of \(whose) as they are, which is all that it sees."
        if let obstacle = receiver.passThrough.obstacle, !receiver.passThrough.isPassing {
            text += " That ends with the next keyframe of an encoder: \(obstacle.words)."
        }
        return text
    }

    /// Why a receiver of an encoder's frames is not sent a source's packets; nil where nobody would expect that.
    private func why(_ receiver: Participant) -> String? {
        if receiver.passThrough.awaited != nil { return "It is sent its one source's packets from a keyframe on." }
        guard let obstacle = receiver.passThrough.obstacle, obstacle != .composed else { return nil }
        return "It sees one source alone, but is not sent that one's packets: \(obstacle.words)."
    }
}
