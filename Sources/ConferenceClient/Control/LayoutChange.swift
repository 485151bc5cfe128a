public import Compositing
public import RoomAPI

/// A change of a room's layout, or of one participant's; nil values stay unchanged.
public struct LayoutChange: Sendable {
    public enum Mode: Sendable {
        /// A layout whose participant, if there is one, is a name or an id.
        case layout(LayoutMode)
        /// Removes a participant's own layout, so that the room's applies again.
        case room
    }

    /// The participant whose picture changes, by name or id; nil: the room's layout, for all who have no choice of
    /// their own.
    public var receiver: String?
    public var mode: Mode?
    public var fit: LayerFit.Mode?
    /// The participants to hide, and those to show again, by name or id.
    public var hidden: [String] = []
    public var shown: [String] = []
    /// True if the participant sees itself.
    public var selfView: SelfView?
    /// Gives up all that was chosen before.
    public var isReset = false

    public init() {}

    public var isEmpty: Bool {
        mode == nil && fit == nil && hidden.isEmpty && shown.isEmpty && selfView == nil && !isReset
    }
}

extension LayoutChange {
    /// The room's layout after the change.
    func applied(to layout: RoomLayout, in room: RoomReport) throws(ClientError) -> RoomLayout {
        var changed = isReset ? .grid : layout
        if let mode = try resolved(in: room) { changed.mode = mode }
        changed.fit = fit ?? changed.fit
        changed.hidden = try hidden(after: changed.hidden, in: room)
        return changed
    }

    /// Returns a participant's choices after the change.
    func applied(to layout: ParticipantLayout?, in room: RoomReport) throws(ClientError) -> ParticipantLayout {
        var changed = isReset ? ParticipantLayout() : layout ?? ParticipantLayout()
        if case .room = mode {
            changed.mode = nil
        } else if let mode = try resolved(in: room) {
            changed.mode = mode
        }
        changed.fit = fit ?? changed.fit
        changed.hidden = try hidden(after: changed.hidden, in: room)
        changed.selfView = selfView ?? changed.selfView
        return changed
    }

    private func resolved(in room: RoomReport) throws(ClientError) -> LayoutMode? {
        switch mode {
        case .layout(let mode):
            if let name = mode.participant {
                LayoutMode(mode.name, participant: try room.id(of: name))
            } else {
                mode
            }
        case .room, nil: nil
        }
    }

    private func hidden(after before: [String], in room: RoomReport) throws(ClientError) -> [String] {
        var ids = before
        for name in hidden {
            let id = try room.id(of: name)
            if !ids.contains(id) { ids.append(id) }
        }
        for name in shown {
            let id = try room.id(of: name)
            ids.removeAll { $0 == id }
        }
        return ids
    }
}
