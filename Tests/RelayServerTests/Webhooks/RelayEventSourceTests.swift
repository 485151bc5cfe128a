import Foundation
import MediaCore
import RoomAPI
import SecureTransport
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

@Suite("Events for webhooks and the event log")
struct RelayEventSourceTests {
    private var generator = SeededGenerator(seed: 1)
    private let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    private let start = MonotonicInstant.now()

    private func source() -> RelayEventSource {
        var generator = generator
        return RelayEventSource(using: &generator)
    }

    private func member(_ id: String, room: String = "demo") -> RelayNotice.Member {
        RelayNotice.Member(
            room: room, id: id, name: id.capitalized, role: .sendAndReceive,
            address: TransportAddress(ipv4: 0xC000_0207, port: 1234))
    }

    @Test("a room starts with the first join and ends after the last leave")
    func life() throws {
        var source = source()
        var events = source.events(of: .joined(member("ada")), at: date, now: start)
        events += source.events(of: .joined(member("ben")), at: date, now: start)
        events += source.events(
            of: .left(member("ada"), .idle, after: .seconds(7)), at: date, now: start + .seconds(7))
        events += source.events(
            of: .left(member("ben"), .left, after: .seconds(9)), at: date, now: start + .seconds(9))
        events += source.events(of: RoomEvent(room: "demo", kind: .closed), at: date, now: start + .seconds(9))
        events += source.events(of: .joined(member("ada")), at: date, now: start + .seconds(10))
        #expect(
            events.map(\.type) == [
                .roomStarted, .participantJoined, .participantJoined, .participantLeft, .participantLeft, .roomEnded,
                .roomStarted, .participantJoined,
            ])
        #expect(Set(events.map(\.id)).count == events.count)
        #expect(Set(events[..<6].map(\.roomSession)).count == 1)
        #expect(events[6].roomSession != events[0].roomSession)
        #expect(events[0].time == "2023-11-14T22:13:20.250Z")
        #expect(events[3].reason == "idle" && events[3].duration == 7 && events[5].duration == 9)
        #expect(
            events[1].participant
                == .init(id: "ada", name: "Ada", role: .sendAndReceive, address: "192.0.2.7"))
    }

    @Test("speakers are told at most every two seconds, the newest of them")
    func speakers() {
        var source = source()
        for id in ["ada", "ben", "cy"] { _ = source.events(of: .joined(member(id)), at: date, now: start) }
        func speaks(_ id: String?, after milliseconds: Int) -> [String?] {
            source.events(
                of: RoomEvent(room: "demo", kind: .activeSpeakerChanged(id: id)), at: date,
                now: start + .milliseconds(milliseconds)
            ).map { $0.participant?.id }
        }
        #expect(speaks("ada", after: 0) == ["ada"])
        #expect(speaks("ben", after: 500) == [])
        #expect(speaks("cy", after: 900) == [])
        #expect(source.isWaiting)
        #expect(source.dueEvents(at: date, now: start + .milliseconds(1900)).isEmpty)
        #expect(source.dueEvents(at: date, now: start + .seconds(2)).map { $0.participant?.id } == ["cy"])
        #expect(!source.isWaiting)
        #expect(speaks(nil, after: 5000) == [nil])
    }

    @Test("what a moderator does names the member and the moderator")
    func moderation() {
        var source = source()
        _ = source.events(of: .joined(member("ada")), at: date, now: start)
        let moderation = ModerationEvent(.muted, participant: "ada", by: RoomActor(name: "Ben"))
        let events = source.events(of: RoomEvent(room: "demo", kind: .moderated(moderation)), at: date, now: start)
        #expect(events.map(\.type) == [.moderated])
        #expect(events.first?.moderation == moderation)
        #expect(events.first?.participant?.name == "Ada")
    }

    @Test("whom a moderator removed is named, although the leaving is told first")
    func removal() {
        var source = source()
        for id in ["ada", "ben"] { _ = source.events(of: .joined(member(id)), at: date, now: start) }
        _ = source.events(of: .left(member("ben"), .removed, after: .seconds(1)), at: date, now: start)
        let moderation = ModerationEvent(.removed, participant: "ben", by: RoomActor(name: "Ada"))
        let events = source.events(of: RoomEvent(room: "demo", kind: .moderated(moderation)), at: date, now: start)
        #expect(events.first?.participant?.name == "Ben")
    }

    @Test("a recording's beginning and end are told with its id")
    func recording() {
        var source = source()
        _ = source.events(of: .joined(member("ada")), at: date, now: start)
        let status = RecordingStatus(id: "r1", state: .recording)
        let events = source.events(of: RoomEvent(room: "demo", kind: .recordingChanged(status)), at: date, now: start)
        #expect(events.map(\.type) == [.recordingChanged])
        #expect(events.first?.recording == status)
    }

    @Test("an output's changes are told with its id and reason, and nothing of its server")
    func output() {
        var source = source()
        _ = source.events(of: .joined(member("ada")), at: date, now: start)
        let status = OutputStatus(id: "o1", name: "Example", state: .waiting, reason: .timedOut)
        let events = source.events(of: RoomEvent(room: "demo", kind: .outputChanged(status)), at: date, now: start)
        #expect(events.map(\.type) == [.outputChanged])
        #expect(events.first?.output == status && events.first?.roomSession != nil)
    }

    @Test("refused requests are told apart from refused joins, so many a second of each")
    func refusedRequests() {
        var source = source()
        let request = RelayEvent.RefusedRequest(
            method: "PUT", path: "/rooms/:room/layout", status: 401, address: "192.0.2.7")
        func refuse(after seconds: Int) -> RelayEvent? {
            source.event(
                ofRefusal: request, room: "demo", reason: "the token has expired", at: date,
                now: start + .seconds(seconds))
        }
        let told = (0..<80).compactMap { _ in refuse(after: 0) }
        #expect(told.count == 50)
        #expect(told.first?.request == request && told.first?.reason == "the token has expired")
        #expect(refuse(after: 1)?.suppressed == 30)
    }

    @Test("many refused joins are one event in a while, which counts the others")
    func refusals() {
        var source = source()
        let request = JoinRequest(room: "demo", name: "Mallory", offer: "", client: TransportAddress(ipv4: 1, port: 1))
        func refuse(after seconds: Int) -> RelayEvent? {
            source.event(
                ofRefusal: .roomFull(limit: 2), request: request, at: date, now: start + .seconds(seconds))
        }
        let told = (0..<1000).compactMap { _ in refuse(after: 0) }
        #expect(told.count == 50)
        #expect(told[0].participant?.name == "Mallory" && told[0].reason?.isEmpty == false && told[0].room == "demo")
        #expect(refuse(after: 1)?.suppressed == 950)
        #expect(refuse(after: 1)?.suppressed == nil)
    }

    @Test("who waits in the lobby is not refused")
    func waiting() {
        var source = source()
        let request = JoinRequest(room: "demo", name: "Cy", offer: "", client: nil)
        let waiting = source.event(ofRefusal: .waits(ticket: "w-1"), request: request, at: date, now: start)
        let refused = source.event(ofRefusal: .lobbyFull, request: request, at: date, now: start)
        #expect(waiting == nil && refused?.type == .joinRefused)
    }
}
