import Foundation
import MediaCore
import RoomAPI

/// A room's event on the tile of the client's own camera.
enum TileEvent {
    private struct Room: Decodable {
        var tiles: [RoomTile]
    }

    /// The largest size of a tile.
    private static let largest = 1 << 14

    /// The tile's size; nil if the event says nothing of it.
    static func size(_ event: EventStreamParser.Event, of participant: String) -> VideoDimensions? {
        let data = Data(event.data.utf8)
        let tiles: [RoomTile] =
            switch event.name {
            case "room": (try? JSONDecoder().decode(Room.self, from: data))?.tiles ?? []
            case "tileChanged": (try? JSONDecoder().decode(RoomTile.self, from: data)).map { [$0] } ?? []
            default: []
            }
        guard let tile = tiles.last(where: { $0.participant == participant && $0.content == .camera }),
            (0...largest).contains(tile.width), (0...largest).contains(tile.height)
        else { return nil }
        return VideoDimensions(width: tile.width, height: tile.height)
    }
}
