import AudioMixing
import MediaCore
import MediaFixtures
import NIOCore
import PeerConnection
import RTP
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference

/// Moderators' orders hold, whatever the clients send.
@Suite struct ModerationTests {
    private static let moderator = RoomActor(participant: "m", name: "Mo")

    private func moderate(_ call: VirtualCall, _ moderation: RoomCommand.Moderation) throws {
        try call.relay.perform(.moderate(moderation, by: Self.moderator), room: "demo", now: call.now)
    }

    private func change(_ call: VirtualCall, _ client: TestClient, _ change: MemberModeration) throws {
        try moderate(call, .member(change, participant: client.participantID))
    }

    /// The level from which on a packet is not silent. A mix states its level, but not whether that is a voice.
    private static let audible = 60

    /// True if a client is sent anything audible in the time to come.
    private func hears(_ client: TestClient, _ call: VirtualCall, for duration: Duration = .seconds(1)) -> Bool {
        let before = client.audioPackets.count
        call.run(for: duration)
        return client.audioPackets.dropFirst(before).contains { packet in
            packet.level.map { $0.decibelsBelowOverload < Self.audible } ?? (packet.payload.readableBytes > 20)
        }
    }

    private func events(_ call: VirtualCall) -> [RoomEvent.Kind] {
        var events: [RoomEvent.Kind] = []
        while let event = call.relay.pollRoomEvent() { events.append(event.kind) }
        return events
    }

    private func summary(_ call: VirtualCall, _ client: TestClient) throws -> ParticipantSummary {
        let state = try #require(call.relay.state(ofRoom: "demo"))
        return try #require(state.participants.first { $0.id == client.participantID })
    }

    @Test(
        "who is muted is not mixed, though their client says and sends what it likes, until they may unmute themselves")
    func mutedInMix() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let ben = try call.join("Ben", colour: .green)
        ada.isSilent = true
        ben.isSilent = false
        call.run(for: .seconds(1))
        #expect(hears(ada, call))
        try change(call, ben, MemberModeration(microphone: .muted))
        call.run(for: .milliseconds(500))
        #expect(!hears(ada, call))
        #expect(try summary(call, ben).muted && !summary(call, ben).microphone)
        try call.relay.perform(
            .setMediaState(MediaState(microphone: true), participant: ben.participantID), room: "demo", now: call.now)
        #expect(!hears(ada, call))
        try change(call, ben, MemberModeration(microphone: .askedToUnmute))
        #expect(!hears(ada, call))
        try call.relay.perform(
            .setMediaState(MediaState(microphone: true), participant: ben.participantID), room: "demo", now: call.now)
        #expect(hears(ada, call))
        #expect(try !summary(call, ben).muted)
    }

    @Test("who is muted is not forwarded either")
    func mutedForwarded() throws {
        let call = VirtualCall { $0.forwarding = .auto }
        let ada = try call.join("Ada", video: nil)
        let ben = try call.join("Ben", video: nil)
        ben.isSilent = false
        call.run(for: .seconds(4))
        #expect(ada.audioPackets.suffix(20).contains { ben.sentAudio.contains($0.payload) })
        try change(call, ben, MemberModeration(microphone: .muted))
        call.run(for: .milliseconds(200))
        let before = ada.audioPackets.count
        let sent = ben.sentAudio.count
        call.run(for: .seconds(2))
        let muted = Set(ben.sentAudio.dropFirst(sent))
        #expect(ada.audioPackets.dropFirst(before).allSatisfy { !muted.contains($0.payload) })
        try change(call, ben, MemberModeration(microphone: .allowed))
        #expect(hears(ada, call, for: .seconds(2)))
    }

    @Test("a camera that a moderator turned off is not seen, though it sends, until it is allowed again")
    func cameraOff() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let viewer = try call.join("Viewer", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        func seesRed() throws -> Bool { try #require(viewer.picture).colour(x: 32, y: 18).resembles(.red) }
        call.run(for: .seconds(2))
        #expect(try seesRed())
        try change(call, ada, MemberModeration(camera: .off))
        call.run(for: .seconds(1))
        #expect(try !seesRed())
        try call.relay.perform(
            .setMediaState(MediaState(camera: true), participant: ada.participantID), room: "demo", now: call.now)
        call.run(for: .seconds(1))
        #expect(try !seesRed())
        #expect(try summary(call, ada).cameraOff && !summary(call, ada).camera)
        try change(call, ada, MemberModeration(camera: .allowed))
        call.run(for: .seconds(2))
        #expect(try seesRed())
    }

    @Test("what a role or a token does not allow is neither heard nor seen")
    func grants() throws {
        let call = VirtualCall()
        let ada = try call.join(
            "Ada", colour: .red, grants: MemberGrants(role: .participant, permissions: [.watch]))
        let viewer = try call.join("Viewer", video: .receiveOnly, audio: .receiveOnly, role: .watch)
        ada.isSilent = false
        #expect(!hears(viewer, call, for: .seconds(2)))
        #expect(try !#require(viewer.picture).colour(x: 32, y: 18).resembles(.red))
        try change(call, ada, MemberModeration(role: .participant))
        #expect(hears(viewer, call, for: .seconds(2)))
        #expect(try #require(viewer.picture).colour(x: 32, y: 18).resembles(.red))
    }

    @Test("whoever begins a room is its moderator, and stays it when they come back; others are not")
    func creator() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", isOpen: true)
        let ben = try call.join("Ben", isOpen: true)
        call.run(for: .seconds(1))
        #expect(try summary(call, ada).accessRole == .moderator && summary(call, ben).accessRole == .presenter)
        try change(call, ben, MemberModeration(microphone: .muted))
        let again = try call.join("Ada", returningAs: ada.participantID, isOpen: true)
        let other = try call.join("Ben", returningAs: ben.participantID, isOpen: true)
        #expect(try summary(call, again).accessRole == .moderator)
        #expect(try summary(call, other).muted && summary(call, other).accessRole == .presenter)
    }

    @Test("a locked room takes nobody new but those who moderate or come back")
    func lock() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada")
        call.run(for: .seconds(1))
        try moderate(call, .setEntry(locked: true, lobby: nil, pin: nil))
        #expect { try call.join("Ben") } throws: { if case JoinError.locked = $0 { true } else { false } }
        try call.join("Ada", returningAs: ada.participantID)
        try call.join("Mo", grants: MemberGrants(role: .moderator))
        try moderate(call, .setEntry(locked: false, lobby: nil, pin: nil))
        try call.join("Ben")
    }

    @Test("a room with a PIN takes only those who know it")
    func pin() throws {
        let call = VirtualCall()
        try call.join("Ada")
        try moderate(call, .setEntry(locked: nil, lobby: nil, pin: [1, 2, 3]))
        #expect(call.relay.access(ofRoom: "demo", participant: nil)?.pin == [1, 2, 3])
        #expect { try call.join("Ben") } throws: { if case JoinError.pinNeeded = $0 { true } else { false } }
        try call.join("Ben", adjustRequest: { $0.provenPIN = [1, 2, 3] })
        // Another PIN may be set while that of a join is checked.
        try moderate(call, .setEntry(locked: nil, lobby: nil, pin: [4]))
        #expect(throws: JoinError.self) { try call.join("Eve", adjustRequest: { $0.provenPIN = [1, 2, 3] }) }
        try moderate(call, .setEntry(locked: nil, lobby: nil, pin: []))
        try call.join("Cy")
    }

    @Test("who was removed is kept out by their identity, or without one by their address")
    func removed() throws {
        let call = VirtualCall()
        try call.join("Ada")
        let grants = MemberGrants(role: .participant, identity: "ben@example.org")
        let elsewhere = TransportAddress(ipv4: 0xC000_0201, port: 1)
        let ben = try call.join("Ben", grants: grants)
        let cy = try call.join("Cy", adjustRequest: { $0.client = elsewhere })
        call.run(for: .seconds(1))
        try moderate(call, .remove(participant: ben.participantID, keepOut: true))
        try moderate(call, .remove(participant: cy.participantID, keepOut: true))
        #expect(call.relay.state(ofRoom: "demo")?.participants.map(\.name) == ["Ada"])
        let isKeptOut: (any Error) -> Bool = { if case JoinError.keptOut = $0 { true } else { false } }
        #expect { try call.join("Ben", returningAs: ben.participantID, grants: grants) } throws: { isKeptOut($0) }
        #expect { try call.join("Dan", adjustRequest: { $0.client = elsewhere }) } throws: { isKeptOut($0) }
        try call.join("Dan")
        let other = try call.join("Eve")
        try moderate(call, .remove(participant: other.participantID, keepOut: false))
        try call.join("Eve")
    }

    @Test("each act is an event that names who did it; ending the room ends it for everybody")
    func events() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada")
        let ben = try call.join("Ben")
        call.run(for: .seconds(1))
        _ = events(call)
        try call.relay.perform(
            .setMediaState(MediaState(hand: true), participant: ben.participantID), room: "demo", now: call.now)
        #expect(try summary(call, ben).hand)
        try change(call, ben, MemberModeration(microphone: .muted, camera: .off, role: .participant))
        try moderate(call, .spotlight(participant: ada.participantID))
        try moderate(call, .lowerHands)
        #expect(try !summary(call, ben).hand)
        #expect(call.relay.state(ofRoom: "demo")?.layout == .pinned(participant: ada.participantID))
        try moderate(call, .end)
        let told = events(call)
        let acts = told.compactMap { if case .moderated(let event) = $0 { event } else { nil } }
        #expect(acts.map(\.action) == [.muted, .cameraOff, .roleChanged, .spotlight, .handsLowered, .ended])
        #expect(acts.allSatisfy { $0.by == Self.moderator })
        #expect(acts.prefix(3).allSatisfy { $0.participant == ben.participantID })
        #expect(told.last == .closed)
        #expect(call.relay.state(ofRoom: "demo") == nil)
    }

    @Test("hidden members are in nobody's list, and see the room all the same")
    func hidden() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        let recorder = try call.join(
            "Recorder", video: .receiveOnly, audio: .receiveOnly, role: .watch,
            grants: MemberGrants(role: .recorder, isHidden: true))
        call.run(for: .seconds(2))
        #expect(call.relay.state(ofRoom: "demo")?.participants.map(\.name) == ["Ada"])
        let snapshot = try #require(call.relay.snapshot(room: "demo", now: call.now))
        #expect(snapshot.participants.map(\.name) == ["Ada"])
        #expect(!snapshot.encoding.groups.flatMap(\.members).contains(recorder.participantID))
        #expect(recorder.picture != nil)
        #expect(
            !events(call).contains {
                if case .participantJoined(let summary) = $0 { summary.name == "Recorder" } else { false }
            })
    }

    @Test("a room that comes from another relay keeps its conditions: its members pass for a minute, no others do")
    func inherited() throws {
        let call = VirtualCall()
        func refusal(
            _ name: String, _ conditions: EntryConditions, rejoiningAs id: String? = nil, keyTime: Double? = nil,
            provenPIN: [UInt8]? = nil
        ) -> String? {
            do {
                try call.join(
                    name, colour: .red,
                    adjustRequest: { request in
                        request.inheritedConditions = conditions
                        (request.returningAs, request.rejoiningAs, request.provenPIN) = (id, id, provenPIN)
                        request.rejoinKeyTime = keyTime
                    })
                return nil
            } catch {
                return "\(error)"
            }
        }
        let lobby = EntryConditions(hasLobby: true)
        #expect(refusal("Eve", lobby)?.contains("nobody is here yet who could let you in") == true)
        let guarded = EntryConditions(isLocked: true, pin: [1, 2, 3], roomBegan: 1_000)
        #expect(refusal("Eve", guarded, provenPIN: guarded.pin) == JoinError.locked.description)
        #expect(call.relay.state(ofRoom: "demo") == nil)

        #expect(refusal("Old", guarded, rejoiningAs: "old", keyTime: 980) == JoinError.locked.description)
        #expect(refusal("Ada", guarded, rejoiningAs: "ada") == nil)
        #expect(call.relay.state(ofRoom: "demo")?.entry == RoomEntryState(locked: true, pin: true))
        let verifier = call.relay.access(ofRoom: "demo", participant: nil)?.pin
        #expect(verifier == guarded.pin)
        #expect(call.relay.occupancy.rooms["demo"]?.conditions == guarded)
        #expect(refusal("Eve", EntryConditions(), provenPIN: guarded.pin) == JoinError.locked.description)
        call.run(for: .seconds(50))
        #expect(refusal("Old", guarded, rejoiningAs: "old", keyTime: 980) == JoinError.locked.description)
        #expect(refusal("Ben", guarded, rejoiningAs: "ben", keyTime: 995) == nil)
        call.run(for: .seconds(11))
        #expect(refusal("Cy", guarded, rejoiningAs: "cy") == JoinError.locked.description)
    }

    @Test("a room that comes from another relay is moderated by the key that it had there, and by nobody else")
    func inheritedKey() throws {
        let before = VirtualCall()
        try before.join("Ada", isOpen: true)
        try moderate(before, .setEntry(locked: true, lobby: nil, pin: nil))
        let conditions = try #require(before.relay.occupancy.rooms["demo"]?.conditions)
        #expect(conditions.moderatorKey == [1, 2, 3] && conditions.isLocked)

        let after = VirtualCall()
        func join(_ name: String, key: [UInt8]?, rejoiningAs id: String? = nil) throws -> AccessRole {
            let client = try after.join(
                name,
                adjustRequest: { request in
                    (request.newModeratorKey, request.moderatorKey) = ([9], key)
                    (request.inheritedConditions, request.rejoiningAs) = (conditions, id)
                })
            return try summary(after, client).accessRole
        }
        #expect(throws: JoinError.self) { try join("Eve", key: [4]) }
        #expect(try join("Ben", key: nil, rejoiningAs: "ben") == .presenter)
        after.run(for: .seconds(61))
        #expect(throws: JoinError.self) { try join("Ben", key: [9], rejoiningAs: "ben") }
        #expect(try join("Ada", key: [1, 2, 3], rejoiningAs: "ada") == .moderator)
        #expect(after.relay.access(ofRoom: "demo", participant: nil)?.moderatorKey == [1, 2, 3])
    }

    @Test("a PIN that a room had on another relay lets in")
    func inheritedPIN() throws {
        let call = VirtualCall()
        func join(provenPIN: [UInt8]?) throws {
            try call.join(
                "Eve", colour: .red,
                adjustRequest: { request in
                    (request.inheritedConditions, request.provenPIN) = (EntryConditions(pin: [1]), provenPIN)
                })
        }
        #expect(throws: JoinError.self) { try join(provenPIN: nil) }
        try join(provenPIN: [1])
    }
}
