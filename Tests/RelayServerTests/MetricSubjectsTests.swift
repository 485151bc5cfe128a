import Testing

@testable import Conference
@testable import RelayServer

@Suite("Rooms and participants with metrics of their own")
struct MetricSubjectsTests {
    /// Rooms with one participant each, of which every tenth has been there longest.
    private func relay(rooms: Int) -> RelaySnapshot {
        RelaySnapshot(
            rooms: (0..<rooms).map { index in
                var participant = ParticipantSnapshot(id: "p\(index)", name: "Ada", role: "watch")
                participant.duration = index.isMultiple(of: 10) ? 1000 : 1
                return RoomSnapshot(id: "room\(index)", participants: [participant])
            })
    }

    private func report(rooms: Int) -> String {
        ServerReport(
            relay: relay(rooms: rooms), socket: MediaSocketCounters(), workers: WorkerPoolStatistics(), workerCount: 1,
            isServing: true
        ).prometheusText()
    }

    @Test("the number of time series stops growing with the rooms, and the totals count all")
    func bound() {
        let (full, over) = (report(rooms: 300), report(rooms: 600))
        #expect(full.split(separator: "\n").count == over.split(separator: "\n").count)
        #expect(over.contains("confrelay_rooms 600\n"))
        #expect(over.contains("confrelay_rooms_without_labels 500\n"))
        #expect(over.contains("confrelay_participants 600\n"))
        #expect(over.contains("confrelay_participants_without_labels 350\n"))
    }

    @Test("the oldest rooms and participants keep their metrics when others come, in the same order")
    func choice() {
        let subjects = MetricSubjects(relay(rooms: 900))
        let ids = subjects.rooms.map(\.subject.id)
        #expect(ids.count == MetricSubjects.maximumRooms)
        #expect((0..<90).allSatisfy { ids.contains("room\($0 * 10)") })
        #expect(subjects.participants.prefix(2).map(\.subject.id) == ["p0", "p1"])
        #expect(MetricSubjects(relay(rooms: 3)).rooms.map(\.subject.id) == ["room0", "room1", "room2"])
    }
}
