import Conference
import MediaCore
import NIOCore

/// The snapshots that answer requests without changes.
struct PublishedSnapshots: Sendable {
    /// The names under which requests find snapshots of the server; there is one.
    enum Server: Hashable { case report }

    /// Snapshots of the relay, the socket and the workers.
    let server: SnapshotPublisher<Server, ServerReport>
    /// The last minute of each room, by the room's name.
    let timelines: SnapshotPublisher<String, RoomTimelineSnapshot>

    /// The least time between two reports, and how long one is published.
    static let reportSpacing = Duration.milliseconds(100)
    /// The least time between two snapshots of any room's last minute: one of a room of 50 takes the loop about 15 ms.
    static let timelineSpacing = Duration.milliseconds(250)
    /// The interval at which a room's last minute is published.
    static let timelineInterval = Duration.milliseconds(500)

    init(eventLoop: any EventLoop, now: @escaping @Sendable () -> MonotonicInstant) {
        server = SnapshotPublisher(
            eventLoop: eventLoop, interval: Self.reportSpacing, spacing: Self.reportSpacing, now: now)
        timelines = SnapshotPublisher(
            eventLoop: eventLoop, interval: Self.timelineInterval, spacing: Self.timelineSpacing, now: now)
    }

    /// The newest report.
    func report() async throws -> SnapshotDocuments<ServerReport> {
        guard let report = await server.snapshot(.report) else { throw Problem(JoinError.closed) }
        return report
    }

    /// The last minute of a room; nil if there is none of that name.
    func timeline(ofRoom id: String) async throws -> SnapshotDocuments<RoomTimelineSnapshot>? {
        // Names of rooms that are not there, of which there is no end, must not take turns.
        guard try await report().snapshot.room(id) != nil else { return nil }
        return await timelines.snapshot(id)
    }
}

extension ServerReport {
    /// A room; nil if there is none of that name.
    func room(_ id: String) -> RoomSnapshot? { relay.rooms.first { $0.id == id } }
}
