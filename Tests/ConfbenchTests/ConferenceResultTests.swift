import Foundation
import Testing

@testable import confbench

@Suite("Result of a conference")
struct ConferenceResultTests {
    /// One millisecond a decode, half a millisecond a composition, four an encode, 0.1 and 0.2 for a packet of audio.
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
        let relay = RelayMeasurement(
            seconds: 10, cores: 0.396, work: WorkRate(participants: 2, way: .personal), deliveries: 60)
        let result = ConferenceResult(way: .personal, participants: 2, floors: [floor(), floor()], relay: [relay])
        // 2 x 30 x 5.5 ms, and 2 x 50 x 0.3 ms of audio.
        #expect(isNear(result.floorCores, 0.33))
        #expect(isNear(result.floorWithAudioCores, 0.36))
        #expect(isNear(result.ratio, 1.2))
        #expect(isNear(result.ratioWithAudio, 1.1))
        #expect(isNear(result.framesPerReceiver, 30))
        #expect(isNear(result.unitCosts.encodeMilliseconds, 4))
    }

    @Test("a relay that left work out is compared with the floor of the work that it did")
    func workLeftOut() {
        var work = WorkRate(participants: 2, way: .personal)
        work.encodes = 30
        let relay = RelayMeasurement(seconds: 10, cores: 0.21, work: work, deliveries: 30)
        let result = ConferenceResult(way: .personal, participants: 2, floors: [floor(), floor()], relay: [relay])
        #expect(isNear(result.floorCores, 0.33))
        #expect(isNear(result.ratio, 1))
        #expect(isNear(result.framesPerReceiver, 15))
    }

    @Test("each round is held against the floors around it, and the median counts")
    func rounds() {
        let rounds = [0.33, 0.594, 0.66].map {
            RelayMeasurement(seconds: 2, cores: $0, work: WorkRate(participants: 2, way: .personal))
        }
        // Around the rounds the floor is 0.33, 0.495 and 0.66 cores: the machine became slower.
        let floors = [floor(), floor(), floor(scale: 2), floor(scale: 2)]
        let result = ConferenceResult(way: .personal, participants: 2, floors: floors, relay: rounds)
        #expect(isNear(result.ratio, 1))
        #expect(isNear(result.highestRatioWithAudio, 1.2 * 11 / 12))
        #expect(isNear(result.lowestRatioWithAudio, 11.0 / 12))
        #expect(isNear(result.floorCores, 0.495))
        #expect(isNear(result.relayCores, 0.528))
        #expect(isNear(result.measuredSeconds, 6))
    }

    @Test("a shared picture is composed and encoded once, and silence costs no audio")
    func sharedFloor() {
        var work = WorkRate(participants: 9, way: .shared, hasSound: false)
        #expect(work == WorkRate(decodes: 270, compositions: 30, encodes: 30, audioDecodes: 0, audioEncodes: 0))
        let relay = RelayMeasurement(seconds: 10, cores: 0.4455, work: work, deliveries: 270)
        let result = ConferenceResult(
            way: .shared, participants: 9, hasSound: false, floors: [floor(), floor()], relay: [relay])
        // 30 x (9 x 1 + 0.5 + 4) ms.
        #expect(isNear(result.floorCores, 0.405))
        #expect(isNear(result.floorWithAudioCores, 0.405))
        #expect(isNear(result.ratioWithAudio, 1.1))
        #expect(isNear(result.framesPerReceiver, 30))
        work = WorkRate(participants: 9, way: .dedicated)
        #expect(work == WorkRate(decodes: 270, compositions: 30, encodes: 270, audioDecodes: 450, audioEncodes: 450))
    }

    @Test("the median of an even number is the mean of the middle two")
    func median() {
        #expect(ConferenceResult.median([4, 1, 3, 2]) == 2.5)
        #expect(ConferenceResult.median([3, 1, 2]) == 2)
        #expect(ConferenceResult.median([]) == 0)
    }

    @Test("rounds joined keep the mean of rates and the sum of counts")
    func joinedRounds() {
        let work = WorkRate(participants: 2, way: .personal)
        let first = RelayMeasurement(
            seconds: 1, cores: 1, threadCores: [.workers: 0.5], work: work, missedTicks: 2, keyframes: 1)
        let second = RelayMeasurement(seconds: 3, cores: 0.2, threadCores: [.workers: 0.1], work: work, missedTicks: 1)
        let joined = RelayMeasurement(joining: [first, second])
        #expect(isNear(joined.cores, 0.4))
        #expect(isNear(joined.threadCores[.workers] ?? 0, 0.2))
        #expect(joined.missedTicks == 3)
        #expect(joined.keyframes == 1)
        #expect(isNear(joined.work.encodes, 60))
    }

    @Test("nothing measured is zero, not a division by zero")
    func nothingMeasured() {
        let relay = RelayMeasurement(seconds: 10, cores: 0.5, work: WorkRate(participants: 2, way: .personal))
        let result = ConferenceResult(
            way: .personal, participants: 2, floors: [FloorCost(), FloorCost()], relay: [relay])
        #expect(result.ratio == 0)
        #expect(result.ratioWithAudio == 0)
    }

    @Test("threads are distinguished by their names")
    func threadRoles() {
        #expect(RelayMeasurement.ThreadRole(threadName: "codec-1") == .workers)
        #expect(RelayMeasurement.ThreadRole(threadName: "NIO-ELT-0-#0") == .eventLoop)
        #expect(RelayMeasurement.ThreadRole(threadName: "confrelay") == .other)
    }
}
