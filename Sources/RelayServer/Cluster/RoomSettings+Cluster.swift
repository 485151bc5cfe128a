import Compositing
public import Conference
import Foundation
import RoomAPI

/// A room's settings as the directory keeps them. Of a layout's mode or overlays that a later version has added, a
/// relay keeps its own default: the room's lock, PIN and bans, and whom it hides, hold all the same.
extension RelayOccupancy.RoomSettings: Codable {
    private enum CodingKeys: String, CodingKey {
        case layout, overlays, locked, lobby, pin, moderator, began, removed, left
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            layout: (try? container.decode(ReadableLayout.self, forKey: .layout))?.layout(or: .grid) ?? .grid,
            overlays: (try? container.decode(OverlayList.self, forKey: .overlays)) ?? OverlayList(),
            conditions: EntryConditions(
                isLocked: try container.decodeIfPresent(Bool.self, forKey: .locked) ?? false,
                hasLobby: try container.decodeIfPresent(Bool.self, forKey: .lobby) ?? false,
                pin: try container.decodeIfPresent(Data.self, forKey: .pin).map(Array.init),
                moderatorKey: try container.decodeIfPresent(Data.self, forKey: .moderator).map(Array.init),
                roomBegan: try container.decodeIfPresent(Double.self, forKey: .began),
                removed: try container.decodeIfPresent([String].self, forKey: .removed)?
                    .suffix(EntryConditions.maximumRemoved) ?? [],
                left: try container.decodeIfPresent([String].self, forKey: .left)?
                    .suffix(EntryConditions.maximumRemoved) ?? []))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(layout, forKey: .layout)
        try container.encode(overlays, forKey: .overlays)
        if conditions.isLocked { try container.encode(true, forKey: .locked) }
        if conditions.hasLobby { try container.encode(true, forKey: .lobby) }
        try container.encodeIfPresent(conditions.pin.map { Data($0) }, forKey: .pin)
        try container.encodeIfPresent(conditions.moderatorKey.map { Data($0) }, forKey: .moderator)
        try container.encodeIfPresent(conditions.roomBegan, forKey: .began)
        if !conditions.removed.isEmpty { try container.encode(conditions.removed, forKey: .removed) }
        if !conditions.left.isEmpty { try container.encode(conditions.left, forKey: .left) }
    }

    /// Reads what another relay has written; nil for anything else.
    init?(directory bytes: [UInt8]) {
        guard let settings = try? JSONDecoder().decode(Self.self, from: Data(bytes)) else { return nil }
        self = settings
    }

    /// What is written to the directory: equal settings are equal bytes.
    var directoryValue: [UInt8] {
        (try? JSONEncoder.compact.encode(self)).map(Array.init) ?? []
    }
}
