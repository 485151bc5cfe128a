import Foundation
import RoomAPI

/// A room's event that a moderator ended the call, for the client or for all.
enum DismissalEvent {
    /// Returns what happened, for people; nil if the event is another one.
    static func reason(_ event: EventStreamParser.Event, of participant: String) -> String? {
        guard event.name == "moderated",
            let act = try? JSONDecoder().decode(ModerationEvent.self, from: Data(event.data.utf8))
        else { return nil }
        return switch act.action {
        case .ended: "\(act.by.name) ended the call for everyone"
        case .removed where act.participant == participant: "\(act.by.name) removed us from the call"
        default: nil
        }
    }
}
