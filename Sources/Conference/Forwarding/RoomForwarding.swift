import Compositing
import MediaCore

/// What a room knows of its receivers of sources' own packets, all together.
final class RoomForwarding {
    private var tapped: Set<SourceID> = []
    private var hasChanged = false
    /// Packets forwarded.
    var packets: UInt64 = 0
    /// Of receivers who have left.
    private(set) var switches: UInt64 = 0

    func isTapped(_ source: SourceID) -> Bool { tapped.contains(source) }

    func setTapped(_ isTapped: Bool, _ source: SourceID) {
        if isTapped { tapped.insert(source) } else { tapped.remove(source) }
    }

    /// A participant has left.
    func forget(_ participant: Participant) {
        tapped = tapped.filter { $0.participant != participant.id }
        switches &+= participant.forwarding.switches &+ participant.audioForwarding.switches
    }

    /// Somebody's picture need not be composed any more.
    func recordChange() { hasChanged = true }

    func takeChange() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }
}
