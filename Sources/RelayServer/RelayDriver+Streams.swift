import Conference
import Foundation
import HTTPTypes
import Logging
import MediaCore
import NIOCore
import RoomAPI
import RoomMedia

/// The live streams of the relay's rooms.
extension RelayDriver {
    /// The time for which players may ask for the last seconds of a stream that has ended.
    private static let afterEnd = TimeAmount.seconds(12)

    /// Lets rooms be streamed; to be called before the relay serves.
    func setStreams(_ hub: StreamHub) { streams = hub }

    /// Begins to stream a room.
    ///
    /// - Throws: `Problem`: the room does not exist, is streamed already, or there is no time for it.
    func startStream(room: String, _ settings: CompositeSettings) throws(Problem) {
        guard streams?.stream(of: room) == nil else {
            throw Problem(.conflict, "the room is streamed already; end that with DELETE /rooms/\(room)/stream")
        }
        let id = Self.makeID("stream")
        do {
            try perform(.startStream(id: id, settings), room: room)
        } catch {
            throw Problem(error)
        }
        streams?.begin(id, room: room, bitRate: settings.bitRate) { [weak self, eventLoop] in
            eventLoop.execute { [weak self] in
                self?.assumeIsolated { driver in
                    // Another stream of the room may go on by now.
                    guard driver.streams?.stream(of: room) == id else { return }
                    _ = driver.endStream(room: room)
                }
            }
        }
    }

    /// Ends a room's stream. Returns false if there is none.
    func endStream(room: String) -> Bool {
        guard let id = streams?.stream(of: room) else { return false }
        // The room may be gone.
        try? perform(.endStream(id: id), room: room)
        forget(room: room)
        return true
    }

    /// Ends a stream whose room has gone, or that nobody wants any more.
    func forget(room: String) {
        guard let registry = streams?.streams, let ended = streams?.end(room: room) else { return }
        eventLoop.scheduleTask(in: Self.afterEnd) { registry.remove(ended, room: room) }
    }
}
