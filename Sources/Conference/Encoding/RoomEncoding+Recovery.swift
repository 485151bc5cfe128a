import MediaCore
import PeerConnection

extension RoomEncoding {
    /// A receiver lost a picture, and goes on with any that refers to nothing but what it has told to have.
    func pictureLost(by participant: Participant, now: MonotonicInstant) {
        // Frames that others are sent, too, are not made for one of them.
        guard let group = group(participant.downlink?.source), !group.isShared else {
            return keyframeRequested(by: participant, now: now)
        }
        let answer = group.pictureLost(roundTripTime: participant.peer.roundTripTime ?? .zero, now: now)
        if answer == .keyframe, group.recoveryMethod != .keyframes { participant.downlink?.recovery.keyframes &+= 1 }
    }

    /// A receiver has the picture whole that was taken at `time`.
    func pictureAcknowledged(at time: MonotonicInstant, by participant: Participant) {
        guard let group = group(participant.downlink?.source), group.pictureAcknowledged(at: time) else { return }
        participant.downlink?.recovery.refreshesUsed &+= 1
    }
}
