import Conference
import Foundation
import LoadControl
import MediaCore
import NIOCore
import RoomAPI
import SecureTransport

/// Makes events of what a relay tells, in the order in which it happened. It belongs to the driver's loop; encoding and
/// writing are others' work.
struct RelayEventSource {
    /// A room with participants.
    private struct OpenRoom {
        let session: String
        let started: MonotonicInstant
        var people: [String: RelayEvent.Person] = [:]
        /// The time of the last event of a speaker, and the speaker of the next one.
        var speakerTold: MonotonicInstant?
        var speaker: String?
    }

    /// Bounds the events of refusals, which any client can cause.
    private struct Refusals {
        var bucket = TokenBucket(rate: 5, capacity: 50)
        /// Refusals since the last event.
        var suppressed = 0

        mutating func takeSuppressed() -> Int? {
            defer { suppressed = 0 }
            return suppressed > 0 ? suppressed : nil
        }
    }

    /// The least time between two events of a room's speaker.
    static let speakerInterval = Duration.seconds(2)
    /// Other relays of a cluster may order that several are removed at once.
    private static let maximumDeparted = 64

    private let prefix: String
    private var count: UInt64 = 0
    private var rooms: [String: OpenRoom] = [:]
    /// The members who left last. The relay tells that a member has left before it tells that a moderator removed them.
    private var departed = CircularBuffer<(room: String, person: RelayEvent.Person)>()
    private var waitingSpeakers: Set<String> = []
    private var joinRefusals = Refusals()
    private var requestRefusals = Refusals()

    /// - Parameter generator: Makes ids unlike those of other relays and other starts.
    init(using generator: inout some RandomNumberGenerator) {
        prefix = String(UInt64.random(in: .min ... .max, using: &generator), radix: 36)
    }

    /// The events that a notice amounts to.
    mutating func events(of notice: RelayNotice, at date: Date, now: MonotonicInstant) -> [RelayEvent] {
        switch notice {
        case .joined(let member):
            var events: [RelayEvent] = []
            if rooms[member.room] == nil {
                var event = make(.roomStarted, at: date, room: member.room)
                event.roomSession = event.id
                rooms[member.room] = OpenRoom(session: event.id, started: now)
                events.append(event)
            }
            let person = RelayEvent.Person(member)
            rooms[member.room]?.people[member.id] = person
            var event = make(.participantJoined, at: date, room: member.room)
            event.participant = person
            return events + [event]
        case .left(let member, let reason, let duration):
            var event = make(.participantLeft, at: date, room: member.room)
            let person = RelayEvent.Person(member)
            event.participant = person
            event.reason = reason.name
            event.duration = duration.seconds
            rooms[member.room]?.people[member.id] = nil
            if departed.count == Self.maximumDeparted { departed.removeFirst() }
            departed.append((room: member.room, person: person))
            return [event]
        case .connected, .fellSilent, .authenticationFailed, .deviceFailed, .compositionDeviceFailed: return []
        }
    }

    /// The events that a change in a room amounts to.
    mutating func events(of change: RoomEvent, at date: Date, now: MonotonicInstant) -> [RelayEvent] {
        switch change.kind {
        case .closed:
            guard let room = rooms[change.room] else { return [] }
            var event = make(.roomEnded, at: date, room: change.room)
            event.duration = (now - room.started).seconds
            rooms[change.room] = nil
            waitingSpeakers.remove(change.room)
            return [event]
        case .moderated(let moderation):
            var event = make(.moderated, at: date, room: change.room)
            event.moderation = moderation
            event.participant = moderation.participant.flatMap { id in
                rooms[change.room]?.people[id]
                    ?? departed.last { $0.room == change.room && $0.person.id == id }?.person
            }
            return [event]
        case .recordingChanged(let status):
            var event = make(.recordingChanged, at: date, room: change.room)
            event.recording = status
            return [event]
        case .streamChanged(let status):
            var event = make(.streamChanged, at: date, room: change.room)
            event.stream = status
            return [event]
        case .outputChanged(let status):
            var event = make(.outputChanged, at: date, room: change.room)
            event.output = status
            return [event]
        case .playerChanged(let status):
            var event = make(.playerChanged, at: date, room: change.room)
            event.player = status
            return [event]
        case .activeSpeakerChanged(let id):
            guard rooms[change.room] != nil else { return [] }
            rooms[change.room]?.speaker = id
            waitingSpeakers.insert(change.room)
            return dueEvents(at: date, now: now)
        default: return []
        }
    }

    /// True if there may be `dueEvents` soon.
    var isWaiting: Bool { !waitingSpeakers.isEmpty }

    /// The events that waited until they may be told.
    mutating func dueEvents(at date: Date, now: MonotonicInstant) -> [RelayEvent] {
        guard !waitingSpeakers.isEmpty else { return [] }
        var events: [RelayEvent] = []
        for name in waitingSpeakers.sorted() {
            guard let room = rooms[name] else { continue }
            if let told = room.speakerTold, now - told < Self.speakerInterval { continue }
            waitingSpeakers.remove(name)
            rooms[name]?.speakerTold = now
            var event = make(.activeSpeakerChanged, at: date, room: name)
            event.participant = room.speaker.flatMap { room.people[$0] }
            events.append(event)
        }
        return events
    }

    /// Returns the event of a refused join; nil if there were too many, which the next event then counts, or if the
    /// client waits in the lobby.
    mutating func event(
        ofRefusal error: JoinError, request: JoinRequest, at date: Date, now: MonotonicInstant
    ) -> RelayEvent? {
        if case .waits = error { return nil }
        guard joinRefusals.bucket.take(now: now) else {
            joinRefusals.suppressed += 1
            return nil
        }
        var event = make(.joinRefused, at: date, room: request.room)
        event.participant = RelayEvent.Person(
            id: nil, name: request.name, role: request.role, address: request.client?.host)
        event.reason = error.description
        event.suppressed = joinRefusals.takeSuppressed()
        return event
    }

    /// Returns the event of a refused request; nil if there were too many, which the next event then counts.
    mutating func event(
        ofRefusal request: RelayEvent.RefusedRequest, room: String?, reason: String, at date: Date,
        now: MonotonicInstant
    ) -> RelayEvent? {
        guard requestRefusals.bucket.take(now: now) else {
            requestRefusals.suppressed += 1
            return nil
        }
        var event = make(.requestRefused, at: date, room: room)
        event.request = request
        event.reason = reason
        event.suppressed = requestRefusals.takeSuppressed()
        return event
    }

    /// The event of what overload control tells; nil for other things than another level.
    mutating func event(of overload: OverloadEvent, at date: Date) -> RelayEvent? {
        guard case .levelChanged(let change) = overload else { return nil }
        var event = make(.overloadChanged, at: date, room: nil)
        event.overload = .init(from: change.from.name, to: change.to.name, seatsLeft: change.seatsLeft)
        return event
    }

    private mutating func make(_ kind: RelayEvent.Kind, at date: Date, room: String?) -> RelayEvent {
        count += 1
        var event = RelayEvent(
            id: "\(prefix)-\(count)", type: kind, time: date.formatted(EventTime.style), room: room)
        event.roomSession = room.flatMap { rooms[$0]?.session }
        return event
    }
}

extension RelayEvent.Person {
    init(_ member: RelayNotice.Member) {
        self.init(id: member.id, name: member.name, role: member.role, address: member.address?.host)
    }
}

extension LeaveReason {
    /// As events name it.
    fileprivate var name: String {
        switch self {
        case .left: "left"
        case .idle: "idle"
        case .failed: "failed"
        case .neverConnected: "neverConnected"
        case .noSeat: "noSeat"
        case .replaced: "replaced"
        case .removed: "removed"
        case .ended: "roomEnded"
        case .closing: "relayEnded"
        }
    }
}
