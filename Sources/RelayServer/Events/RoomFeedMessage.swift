import Conference
import Foundation
import NIOCore
import RoomAPI
import Synchronization

/// A message to the subscribers of a room. Its text is encoded once for all of them.
struct RoomFeedMessage: Sendable {
    enum Content: Sendable {
        /// The complete state of the room.
        case state(RoomState)
        /// A change of the room.
        case change(RoomEvent.Kind)
        /// The statistics of the selected participant.
        case statistics(ParticipantStatistics)
        /// Nothing has happened for a while.
        case keepAlive
    }

    /// The number of the relay's message.
    let id: UInt64
    let content: Content
    private let text = SharedText()

    /// The time after which a browser connects again, in milliseconds.
    private static let retryMilliseconds = 2000

    /// True if somebody may read no more after it: a moderator removed a member, or the room has a PIN.
    var mayShutOut: Bool {
        switch content {
        case .change(.moderated(let act)), .change(.moderatedElsewhere(let act)): act.action == .removed
        case .change(.entryChanged(let entry, _)): entry.pin
        default: false
        }
    }

    /// The message as `docs/openapi.json` describes it.
    func encode() throws -> ByteBuffer {
        try text.value { try encodeOnce() }
    }

    private func encodeOnce() throws -> ByteBuffer {
        switch content {
        case .state(let state): try Self.encode("room", state, id: id, retry: Self.retryMilliseconds)
        case .change(let change): try Self.encode(change, id: id)
        case .statistics(let statistics): try Self.encode("statistics", statistics, id: id)
        case .keepAlive: ServerSentEvent.keepAlive
        }
    }

    private static func encode(_ change: RoomEvent.Kind, id: UInt64) throws -> ByteBuffer {
        switch change {
        case .participantJoined(let participant): try encode("participantJoined", participant, id: id)
        case .participantChanged(let participant): try encode("participantChanged", participant, id: id)
        case .participantLeft(let participant): try encode("participantLeft", Identifier(id: participant), id: id)
        case .activeSpeakerChanged(let participant):
            try encode("activeSpeakerChanged", Speaker(participant: participant), id: id)
        case .layoutChanged(let layout): try encode("layoutChanged", layout, id: id)
        case .overlaysChanged(let overlays): try encode("overlaysChanged", overlays, id: id)
        case .tileChanged(let tile): try encode("tileChanged", tile, id: id)
        case .encoderFailed(let failure): try encode("encoderFailed", failure, id: id)
        case .recordingChanged(let status): try encode("recordingChanged", status, id: id)
        case .streamChanged(let status): try encode("streamChanged", status, id: id)
        case .outputChanged(let status): try encode("outputChanged", status, id: id)
        case .playerChanged(let status): try encode("playerChanged", status, id: id)
        case .moderated(let event), .moderatedElsewhere(let event): try encode("moderated", event, id: id)
        case .entryChanged(let entry, let waiting):
            try encode("entryChanged", Entry(entry: entry, waiting: waiting), id: id)
        case .moved: try encode("moved", Nothing(), id: id)
        case .closed: try encode("closed", Nothing(), id: id)
        }
    }

    /// An event whose data is a JSON document.
    private static func encode(
        _ name: String, _ value: some Encodable, id: UInt64, retry: Int? = nil
    ) throws -> ByteBuffer {
        let data = String(decoding: try JSONEncoder.compact.encode(value), as: UTF8.self)
        return ServerSentEvent(id: id, name: name, retry: retry, data: data).encode()
    }

    private struct Identifier: Encodable {
        var id: String
    }

    private struct Speaker: Encodable {
        var participant: String?

        private enum CodingKeys: CodingKey {
            case participant
        }

        /// An unknown speaker is written as null, not left out.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(participant, forKey: .participant)
        }
    }

    private struct Entry: Encodable {
        var entry: RoomEntryState
        var waiting: Int
    }

    private struct Nothing: Encodable {}

    /// A text that its first user makes, on the user's own thread.
    private final class SharedText: Sendable {
        private let text = Mutex<ByteBuffer?>(nil)

        func value(_ make: () throws -> ByteBuffer) rethrows -> ByteBuffer {
            try text.withLock { text in
                if let text { return text }
                let made = try make()
                text = made
                return made
            }
        }
    }
}
