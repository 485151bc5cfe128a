/// The reason for which a participant left its room.
public enum LeaveReason: Hashable, Sendable, CaseIterable {
    /// The client said so: by `DELETE`, RTCP BYE or the end of the DTLS association.
    case left
    /// No authentic packet has come for the idle timeout.
    case idle
    /// ICE or DTLS failed, or the consent to send expired.
    case failed
    /// No keys were in use in time after joining.
    case neverConnected
    /// The last seat had been taken when the client connected.
    case noSeat
    /// The same client joined again.
    case replaced
    /// A moderator removed the participant.
    case removed
    /// A moderator ended the room.
    case ended
    /// The relay shuts down.
    case closing

    /// True if the client may come back within a moment, even if there is no seat for others: it had a seat, or came
    /// back to one and did not get through.
    var mayReturn: Bool {
        switch self {
        case .left, .idle, .failed, .neverConnected: true
        case .noSeat, .replaced, .removed, .ended, .closing: false
        }
    }
}
