import MediaCore
import MediaFixtures
import RoomAPI
import SDP
import Testing

@testable import Conference

@Suite("Limits on changes of rooms and participants")
struct ChangeLimitTests {
    private let layouts: [RoomLayout] = [.speaker, .grid]

    /// The number of changes that result from 1.5 s of requests, one each millisecond.
    private func changes(_ change: (Int, MonotonicInstant) throws -> Void, start: MonotonicInstant) -> Int {
        (0..<1500).count { index in
            do {
                try change(index, start + .milliseconds(index))
                return true
            } catch { return false }
        }
    }

    @Test("a room's layout changes at most five times a second, after a burst of twenty")
    func roomLayout() throws {
        let call = VirtualCall()
        _ = try call.join("Ada", colour: .red)
        let count = changes(
            { try call.relay.perform(.setLayout(layouts[$0 % 2]), room: "demo", now: $1) }, start: call.now)
        #expect((26...28).contains(count))
    }

    @Test("a refusal says when to try again, and later there are changes again")
    func retry() throws {
        let call = VirtualCall()
        _ = try call.join("Ada", colour: .red)
        for index in 0..<20 { try call.relay.perform(.setLayout(layouts[index % 2]), room: "demo", now: call.now) }
        #expect(throws: RoomControlError.tooManyChanges(retryAfter: 1)) {
            try call.relay.perform(.setLayout(.grid), room: "demo", now: call.now)
        }
        try call.relay.perform(.setLayout(.speaker), room: "demo", now: call.now + .seconds(1))
    }

    @Test("changes of a participant's layout by others leave its own changes possible")
    func participant() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        let count = changes(
            { index, now in
                let layout = ParticipantLayout(layouts[index % 2].mode)
                try call.relay.perform(
                    .setParticipantLayout(layout, participant: ada.participantID), room: "demo", now: now)
            }, start: call.now)
        #expect((26...28).contains(count))
        try call.relay.perform(
            .setMediaState(MediaState(microphone: false), participant: ada.participantID), room: "demo",
            now: call.now + .seconds(2))
        try call.relay.perform(
            .setParticipantLayout(ParticipantLayout(.speaker), participant: ben.participantID), room: "demo",
            now: call.now + .seconds(2))
        try call.relay.perform(.setLayout(.speaker), room: "demo", now: call.now + .seconds(2))
    }

    @Test("a participant gives five avatars at once and one each four seconds; removals count as other changes")
    func avatar() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        func perform(_ command: RoomCommand) throws { try call.relay.perform(command, room: "demo", now: call.now) }
        for _ in 0..<5 {
            try perform(.prepareAvatar(participant: ada.participantID))
            try perform(.setAvatar(.red, participant: ada.participantID))
        }
        #expect(throws: RoomControlError.tooManyChanges(retryAfter: 5)) {
            try perform(.prepareAvatar(participant: ada.participantID))
        }
        for _ in 0..<20 { try perform(.setAvatar(nil, participant: ada.participantID)) }
        #expect(throws: RoomControlError.tooManyChanges(retryAfter: 1)) {
            try perform(.setAvatar(nil, participant: ada.participantID))
        }
    }

    @Test("further offers and ICE restarts are limited together, and refused ones change nothing")
    func negotiation() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        for _ in 0..<5 { try call.renegotiate(ada) { _ in } }
        for _ in 0..<5 { try call.restart(ada, with: call.makeCredentials(), ifMatch: "*") }
        #expect(throws: TrickleError.tooManyRestarts(retryAfter: 1)) {
            try call.restart(ada, with: call.makeCredentials(), ifMatch: "*")
        }
        #expect(throws: JoinError.self) { try call.renegotiate(ada) { _ in } }
    }

    @Test("a screen share that ends and begins with each packet changes the room no faster than other requests")
    func goodbyes() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red) { $0.screenShare = .init(direction: .sendOnly) }
        let room = try #require(call.relay.rooms["demo"])
        let member = try #require(room.participant(publicID: ada.participantID))
        ada.screenShare = .blue
        let isShared = call.run(until: { member.sharesScreen })
        let pipeline = try #require(member.screenShare)
        #expect(isShared)
        _ = call.roomEvents()
        for index in 0..<200 {
            let now = call.now + .milliseconds(10 * index)
            let picture = PixelBuffer.pattern(
                .blue, dimensions: VideoDimensions(width: 160, height: 120), phase: index)
            _ = pipeline.show(picture, rotation: .none, now: now)
            room.updateScreenShare(member)
            room.videoEnded(.screenShare, of: member, now: now)
        }
        let changes = call.roomEvents().count {
            if case .participantChanged = $0 { true } else { false }
        }
        // Ten ends at once and one a second, and as many beginnings.
        #expect((20...25).contains(changes))
        #expect(member.sharesScreen)
    }

    @Test("events of a room are as many as its changes")
    func events() throws {
        let call = VirtualCall()
        _ = try call.join("Ada", colour: .red)
        while call.relay.pollRoomEvent() != nil {}
        _ = changes({ try call.relay.perform(.setLayout(layouts[$0 % 2]), room: "demo", now: $1) }, start: call.now)
        var events = 0
        while let event = call.relay.pollRoomEvent() {
            if case .layoutChanged = event.kind { events += 1 }
        }
        // The burst changes the layout each time.
        #expect((20...28).contains(events))
    }
}
