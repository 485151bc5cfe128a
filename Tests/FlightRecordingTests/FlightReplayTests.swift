import CongestionControl
import FlightRecording
import LinkEmulation
import MediaCore
import Simulation
import Testing

@Suite("Replaying a recording")
struct FlightReplayTests {
    private func replay(_ records: [FlightRecord], _ kind: TestController) -> FlightReplay {
        var replay = FlightReplay(controller: kind.make())
        for record in records { _ = replay.apply(record) }
        return replay
    }

    @Test("a simulated flow's decisions are reproduced to the bit", arguments: TestController.allCases)
    func identical(kind: TestController) throws {
        let link = LinkProfile(
            rate: .steps([
                LinkRate.Step(at: .zero, rate: .megabits(2)),
                LinkRate.Step(at: .seconds(8), rate: .kilobits(500)),
                LinkRate.Step(at: .seconds(14), rate: .megabits(3)),
            ]), delay: .milliseconds(30), loss: .bernoulli(0.01))
        let flight = try decode(recordedFlow(kind, link: link, duration: .seconds(20)))
        #expect(flight.ending == .closed)
        let replay = replay(flight.records, kind)
        #expect(replay.decisionCount > (kind == .fixed ? 50 : 300))
        #expect(replay.differenceCount == 0 && replay.firstDifference == nil)
    }

    @Test("receiver reports alone are enough", arguments: [TestController.google, .confrelay])
    func receiverReports(kind: TestController) throws {
        let flight = try decode(
            recordedFlow(
                kind, link: LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(30)),
                duration: .seconds(10),
                feedback: .receiverReports))
        #expect(flight.records.contains { if case .receiverReportReceived = $0.event { true } else { false } })
        #expect(replay(flight.records, kind).differenceCount == 0)
    }

    @Test("a controller of another kind decides differently, and the first difference is printed with its time")
    func different() throws {
        let link = LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(30))
        let flight = try decode(recordedFlow(.google, link: link, duration: .seconds(5)))
        let replay = replay(flight.records, .confrelay)
        let difference = try #require(replay.firstDifference)
        #expect(difference.recorded != difference.replayed)
        #expect(difference.description.contains(" became "))
        #expect(replay.differenceCount > 10)
    }

    @Test("one input that was changed in its last bit shows")
    func changedInput() throws {
        let link = LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(30))
        var records = try decode(recordedFlow(.google, link: link, duration: .seconds(5))).records
        let index = try #require(records.firstIndex { if case .decided = $0.event { true } else { false } })
        guard case .decided(var decision) = records[index].event else { return }
        decision.pacingRate = BitRate(bitsPerSecond: decision.pacingRate.bitsPerSecond + 1)
        records[index].event = .decided(decision)
        let replay = replay(records, .google)
        #expect(replay.differenceCount == 1)
        #expect(replay.firstDifference?.index == 0)
        #expect(replay.firstDifference?.time == records[index].time)
    }

    @Test("no damage to a recording makes its reader or a controller trap", arguments: UInt64(0)..<4)
    func mutations(seed: UInt64) throws {
        let link = LinkProfile(rate: .fixed(.kilobits(700)), delay: .milliseconds(30), loss: .bernoulli(0.02))
        let original = try recordedFlow(
            seed.isMultiple(of: 2) ? .google : .scream, link: link, duration: .seconds(3), seed: seed)
        var random = SeededGenerator(seed: seed)
        var outcomes: Set<String> = []
        for round in 0..<60 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 2: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...9, using: &random)))
                default:
                    bytes.insert(
                        contentsOf: (0..<Int.random(in: 1...9, using: &random)).map { _ in
                            UInt8.random(in: 0...255, using: &random)
                        }, at: index)
                }
            }
            guard var decoder = try? FlightDecoder(bytes) else {
                outcomes.insert("refused")
                continue
            }
            let kind = TestController.allCases[round % TestController.allCases.count]
            var replay = FlightReplay(controller: kind.make(limits: decoder.header.limits, start: decoder.header.start))
            var analysis = FlightAnalysis(header: decoder.header)
            while let record = try? decoder.next() {
                analysis.add(record, replayed: replay.apply(record))
            }
            _ = FlightLinkEstimate(path: analysis.path, duration: analysis.duration)
            _ = analysis.course(path: analysis.path)
            outcomes.insert(decoder.ending == nil ? "damaged" : "ended")
        }
        #expect(outcomes.isSuperset(of: ["damaged", "ended"]))
    }
}
