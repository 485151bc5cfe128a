import MediaFixtures
import Testing

@testable import Conference

@Suite("A relay that waits for its calls to end")
struct DrainTests {
    @Test("takes no more joins, except of clients that come back to their call")
    func joins() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        try call.join("Ben", colour: .green)
        call.run(for: .seconds(1))
        call.relay.drain(isMoving: false)
        #expect { try call.join("Cy", colour: .blue) } throws: { error in
            if case .draining? = error as? JoinError { true } else { false }
        }
        #expect(call.relay.leave(room: "demo", participant: ada.participantID, now: call.now))
        call.remove(ada)
        try call.join("Ada again", colour: .red, returningAs: ada.participantID)
        call.run(for: .seconds(1))
        let snapshot = call.relay.snapshot(now: call.now)
        #expect(snapshot.isDraining)
        #expect(snapshot.rooms.flatMap(\.participants).map(\.name) == ["Ben", "Ada again"])
    }

    @Test("tells its clients to go to other relays, where there are any")
    func moving() throws {
        let call = VirtualCall()
        try call.join("Ada", colour: .red)
        _ = call.roomEvents()
        call.relay.drain(isMoving: false)
        #expect(call.roomEvents().isEmpty)
        call.relay.drain(isMoving: true)
        #expect(call.roomEvents() == [.moved])
    }

    @Test("is empty once the last has left")
    func emptying() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        call.relay.drain(isMoving: false)
        #expect(!call.relay.isEmpty)
        #expect(call.relay.leave(room: "demo", participant: ada.participantID, now: call.now))
        #expect(call.relay.isEmpty)
    }
}
