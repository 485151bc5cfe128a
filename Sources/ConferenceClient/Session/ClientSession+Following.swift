import MediaCore
import NIOCore

/// Follows the room's events, which tell the size of the client's own tile, when the relay is about to end, and when a
/// moderator ends the call.
extension ClientSession {
    /// True if the sent picture is to be no larger than its tile.
    var followsTile: Bool { videoSender != nil && options.followsDemand }

    /// True if the client follows the room's events.
    var followsRoom: Bool { options.hearsModerators || followsTile || !negotiation.alternates.isEmpty }

    /// Begins to follow. On the event loop.
    func followRoom() {
        let signalling = Signalling(negotiation.memberURL(of: options.url))
        let receive: @Sendable ([EventStreamParser.Event]) -> Void = { [weak self] events in
            guard let self else { return }
            eventLoop.execute { for event in events { self.take(event) } }
        }
        roomFeed = Task { await signalling.followEvents(receive) }
    }

    private func take(_ event: EventStreamParser.Event) {
        if event.name == "moved", !negotiation.alternates.isEmpty { movePromise.succeed(true) }
        if let reason = DismissalEvent.reason(event, of: negotiation.participantID) { end(.dismissed(reason: reason)) }
        guard followsTile, let size = TileEvent.size(event, of: negotiation.participantID) else { return }
        tile = size
    }
}
