public import Compositing
public import RoomAPI

/// What is to be changed of a room's layout, or of what one participant is shown; what is nil stays as it is.
public struct LayoutChange: Sendable {
    /// The layout.
    public enum Mode: Sendable {
        /// A layout whose participant, if there is one, is a name or an id.
        case layout(LayoutMode)
        /// Of a participant: the room's again.
        case room
    }

    /// Whose picture, by name or id; nil: the room's, for all who have not chosen otherwise.
    public var receiver: String?
    public var mode: Mode?
    public var fit: LayerFit.Mode?
    /// Who is hidden from now on, and who is not any more, by name or id.
    public var hidden: [String] = []
    public var shown: [String] = []
    /// Whether the participant sees themselves.
    public var selfView: SelfView?
    /// Gives up all that was chosen before.
    public var isReset = false

    public init() {}

    /// Whether nothing is to be changed.
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

    /// What a participant has chosen after the change.
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
