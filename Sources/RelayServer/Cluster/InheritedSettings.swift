import Compositing
import Conference
import MediaCore
import RoomAPI

/// Settings that rooms had on their last relay and that are not all set here yet.
struct InheritedSettings {
    private struct Entry {
        var settings: RelayOccupancy.RoomSettings
        var until: MonotonicInstant
        /// Until the overlays are set. They are set once: a moderator may remove them while the layout has to wait.
        var lacksOverlays = true
    }

    private var entries: [String: Entry] = [:]

    var rooms: [String] { Array(entries.keys) }

    mutating func take(_ settings: RelayOccupancy.RoomSettings, of room: String, now: MonotonicInstant) {
        entries[room] = Entry(settings: settings, until: now + EntryConditions.returnTime)
    }

    /// A room's settings; nil if it had none, if all are set, or if they hold no longer.
    func settings(of room: String, now: MonotonicInstant) -> RelayOccupancy.RoomSettings? {
        entries[room].flatMap { now < $0.until ? $0.settings : nil }
    }

    /// Returns true if a room with these settings still waits for its former ones: nobody has changed any meanwhile.
    func stillHold(in room: String, with settings: RelayOccupancy.RoomSettings) -> Bool {
        guard let former = entries[room]?.settings else { return false }
        var conditions = former.conditions
        // These change by themselves.
        conditions.roomBegan = settings.conditions.roomBegan
        conditions.left = settings.conditions.left
        let isUnchanged = [OverlayList(), former.overlays].contains(settings.overlays)
        return settings.layout == .grid && isUnchanged && settings.conditions == conditions
    }

    func lacksOverlays(_ room: String) -> Bool { entries[room]?.lacksOverlays ?? false }

    mutating func overlaysAreSet(in room: String) { entries[room]?.lacksOverlays = false }

    mutating func forget(_ room: String) { entries[room] = nil }

    mutating func forgetOld(now: MonotonicInstant) { entries = entries.filter { now < $0.value.until } }
}
