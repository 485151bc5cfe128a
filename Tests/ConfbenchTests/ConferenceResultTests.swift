import Foundation
import Testing

@testable import confbench

@Suite("What a conference's result says")
struct ConferenceResultTests {
    /// One millisecond a decode, half a millisecond a composition, four an encode, 0.1 and 0.2 for a packet of sound.
    private func floor(scale: Int = 1) -> FloorCost {
        var cost = FloorCost()
        cost.decode.add(.milliseconds(100 * scale), count: 100)
        cost.compose.add(.milliseconds(50 * scale), count: 100)
        cost.encode.add(.milliseconds(400 * scale), count: 100)
        cost.audioDecode.add(.milliseconds(10 * scale), count: 100)
        cost.audioEncode.add(.milliseconds(20 * scale), count: 100)
        return cost
    }

    private func isNear(_ value: Double, _ expected: Double) -> Bool { abs(value - expected) < 1e-9 }

    @Test("the floor is the unit costs times the work of all participants")
    func floorOfTheWholeConference() {
        let relay = RelayMeasurement(seconds: 10, cores: 0.396, work: WorkRate(participants: 2))
        let result = ConferenceResult(participants: 2, floorBefore: floor(), floorAfter: floor(), relay: relay)
        // 2 x 30 x 5.5 ms, and 2 x 50 x 0.3 ms of sound.
        #expect(isNear(result.floorCores, 0.33))
        #expect(isNear(result.floorWithAudioCores, 0.36))
        #expect(isNear(result.ratio, 1.2))
        #expect(isNear(result.ratioWithAudio, 1.1))
        #expect(isNear(result.framesPerReceiver, 30))
        #expect(isNear(result.unitCosts.encodeMilliseconds, 4))
    }

    @Test("a relay that left work out is held against the floor of what it did")
    func workLeftOut() {
        var work = WorkRate(participants: 2)
        work.encodes = 30
        let relay = RelayMeasurement(seconds: 10, cores: 0.21, work: work)
        let result = ConferenceResult(participants: 2, floorBefore: floor(), floorAfter: floor(), relay: relay)
        #expect(isNear(result.floorCores, 0.33))
        #expect(isNear(result.ratio, 1))
        #expect(isNear(result.framesPerReceiver, 15))
    }

    @Test("the floor is the mean of before and after, and the drift the change between them")
    func drift() {
        let relay = RelayMeasurement(seconds: 10, cores: 0.5, work: WorkRate(participants: 2))
        let result = ConferenceResult(participants: 2, floorBefore: floor(), floorAfter: floor(scale: 2), relay: relay)
        #expect(isNear(result.floorCores, 0.495))
        #expect(isNear(result.floorDrift, 1))
    }

    @Test("nothing measured is zero, not a division by zero")
    func nothingMeasured() {
        let relay = RelayMeasurement(seconds: 10, cores: 0.5, work: WorkRate(participants: 2))
        let result = ConferenceResult(
            participants: 2, floorBefore: FloorCost(), floorAfter: FloorCost(), relay: relay)
        #expect(result.ratio == 0)
        #expect(result.ratioWithAudio == 0)
    }

    @Test("threads are told apart by their names")
    func threadRoles() {
        #expect(RelayMeasurement.ThreadRole(threadName: "codec-1") == .workers)
        #expect(RelayMeasurement.ThreadRole(threadName: "NIO-ELT-0-#0") == .eventLoop)
        #expect(RelayMeasurement.ThreadRole(threadName: "confrelay") == .other)
    }
}
