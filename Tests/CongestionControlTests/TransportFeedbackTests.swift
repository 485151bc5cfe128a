import MediaCore
import RTP
import Testing

@testable import CongestionControl

@Suite("Transport-wide feedback")
struct TransportFeedbackTests {
    private func feedback(
        base: UInt16, deltas: [Int64?], referenceTime: Int32 = 0
    ) -> TransportFeedback {
        let packets = deltas.enumerated().map { index, delta in
            PacketStatus(sequence: base &+ UInt16(index), receiveDelta: delta.map { .milliseconds($0) })
        }
        return TransportFeedback(
            senderSSRC: 1, mediaSSRC: 2, baseSequence: base, referenceTime: referenceTime, feedbackCount: 0,
            packets: packets)
    }

    @Test("feedback is matched to the sent packets, with arrivals on one time line")
    func matching() throws {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<4 {
            let (sequence, packet) = adapter.packetSent(
                size: .packet, probeClusterID: index == 2 ? 5 : nil, now: at(Double(index) * 10))
            #expect(sequence == UInt16(index))
            #expect(packet.transportSequence == Int64(index))
        }
        #expect(adapter.dataInFlight == bytes(4800))
        let matchedReport = adapter.handle(feedback(base: 0, deltas: [3, nil, 20]), now: at(100))
        let report = try #require(matchedReport)
        #expect(report.results.map(\.sent.transportSequence) == [0, 1, 2])
        #expect(report.results.map(\.sent.probeClusterID) == [nil, nil, 5])
        #expect(report.results[1].receiveTime == nil)
        let first = try #require(report.results[0].receiveTime)
        let third = try #require(report.results[2].receiveTime)
        #expect(third - first == .milliseconds(20))
        #expect(report.dataInFlight == bytes(1200))
        // The last arrived 20 ms after it was sent at the latest: 100 − 20; the first waited 20 ms for it.
        #expect(adapter.roundTripTime == .milliseconds(80))
    }

    @Test("the reference time wraps without a jump")
    func referenceTimeWraps() throws {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<2 { _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index) * 64)) }
        let last: Int32 = (1 << 23) - 1
        let matchedOne = adapter.handle(feedback(base: 0, deltas: [0], referenceTime: last), now: at(100))
        let one = try #require(matchedOne)
        let matchedTwo = adapter.handle(feedback(base: 1, deltas: [0], referenceTime: -(1 << 23)), now: at(200))
        let two = try #require(matchedTwo)
        let first = try #require(one.results[0].receiveTime)
        let second = try #require(two.results[0].receiveTime)
        #expect(second - first == .milliseconds(64))
    }

    @Test("feedback that leaves missing packets out says the same as feedback that names them", arguments: [1, 2, 3])
    func leftOut(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (adapter, other) = (TransportFeedbackAdapter(), TransportFeedbackAdapter())
        var now = at(0)
        var newest: UInt16 = 0
        var reportCount = 0
        for _ in 0..<100 {
            for _ in 0..<Int.random(in: 0...400, using: &random) {
                now += .microseconds(Int64.random(in: 0...3000, using: &random))
                newest = adapter.packetSent(size: .packet, probeClusterID: nil, now: now).sequence
                _ = other.packetSent(size: .packet, probeClusterID: nil, now: now)
            }
            let named = feedback(
                base: newest &- UInt16.random(in: 0...9000, using: &random) &+ 500,
                deltas: (0..<Int.random(in: 1...800, using: &random)).map { _ in
                    Int.random(in: 0..<4, using: &random) == 0 ? .random(in: -3...6, using: &random) : nil
                })
            var sparse = named
            sparse.packets.removeAll { !$0.isReceived && $0 != named.packets.last }
            let report = adapter.handle(named, now: now)
            let isSame = other.handle(sparse, now: now) == report
            #expect(isSame && other.roundTripTime == adapter.roundTripTime)
            if report != nil { reportCount += 1 }
        }
        #expect(reportCount > 5)
    }

    @Test("feedback without news moves neither the receiver's clock nor the round trip")
    func withoutNews() throws {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<2 { _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index) * 64)) }
        let matchedOne = adapter.handle(feedback(base: 0, deltas: [0], referenceTime: 5), now: at(100))
        let first = try #require(matchedOne?.results.first?.receiveTime)
        for round in 0..<20_000 {
            // No packets, packets that were never sent, and one that was reported before.
            let base: UInt16 = round % 3 == 0 ? 0 : 7000
            let deltas: [Int64?] = round % 3 == 1 ? [] : [0]
            let useless = feedback(base: base, deltas: deltas, referenceTime: round % 2 == 0 ? 0 : -0x80_0000)
            #expect(adapter.handle(useless, now: at(150)) == nil)
        }
        #expect(adapter.roundTripTime == .milliseconds(100))
        let matchedTwo = adapter.handle(feedback(base: 1, deltas: [0], referenceTime: 6), now: at(200))
        let second = try #require(matchedTwo?.results.first?.receiveTime)
        #expect(second - first == .milliseconds(64))
    }

    @Test(
        "after a jump of the receiver's clock the time line follows ours",
        arguments: [-0x80_0000, -1000, -47, 47, 1000, 0x7F_FFFF])
    func clockJump(jump: Int32) throws {
        var adapter = TransportFeedbackAdapter()
        var receiveTimes: [MonotonicInstant] = []
        for index in 0..<4 {
            _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index) * 64))
            let reference = Int32(index) + (index < 2 ? 0 : jump)
            let matched = adapter.handle(
                feedback(base: UInt16(index), deltas: [0], referenceTime: reference), now: at(Double(index) * 64 + 50))
            receiveTimes.append(try #require(matched?.results.first?.receiveTime))
            #expect(adapter.roundTripTime == .milliseconds(50))
        }
        #expect(zip(receiveTimes, receiveTimes.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(64) })
    }

    @Test("after an arrival that was told too early the delays are soon as before, though feedback is unsteady")
    func earlyArrival() throws {
        var adapter = TransportFeedbackAdapter()
        let lateness = [0.0, 30, 10, 40, 20]
        var delays: [Duration] = []
        for index in 0..<40 {
            let sent = at(Double(index) * 64)
            _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: sent)
            let matched = adapter.handle(
                feedback(base: UInt16(index), deltas: [index == 10 ? -16 : 0], referenceTime: Int32(index)),
                now: at(Double(index) * 64 + 1 + lateness[index % lateness.count]))
            let received = try #require(matched?.results.first?.receiveTime)
            delays.append(received - sent)
        }
        #expect(delays.prefix(10).allSatisfy { $0 == .milliseconds(1) })
        #expect(delays.dropFirst(15).allSatisfy { $0 == .milliseconds(1) })
    }

    @Test("feedback that was held up for some seconds says when packets arrived")
    func heldUp() throws {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<2 { _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index) * 64)) }
        let matchedOne = adapter.handle(feedback(base: 0, deltas: [0], referenceTime: 0), now: at(50))
        let matchedTwo = adapter.handle(feedback(base: 1, deltas: [0], referenceTime: 1), now: at(8050))
        let first = try #require(matchedOne?.results.first?.receiveTime)
        let second = try #require(matchedTwo?.results.first?.receiveTime)
        #expect(second - first == .milliseconds(64))
    }

    @Test("an arrival that lies far from its report's time is neither a loss nor of use")
    func impossibleArrival() throws {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<4 { _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index))) }
        let matched = adapter.handle(feedback(base: 0, deltas: [8000, 8000, -8000, nil]), now: at(100))
        #expect(matched?.results.map(\.sent.transportSequence) == [0, 2, 3])
        #expect(adapter.handle(feedback(base: 1, deltas: [1]), now: at(110))?.results.count == 1)
    }

    @Test("a report of RFC 8888 without news changes nothing, and its clock may jump")
    func reportsWithoutNews() throws {
        var adapter = TransportFeedbackAdapter()
        func report(_ sequence: UInt16, timestamp: UInt32, age: Duration = .zero) -> CongestionControlFeedback {
            CongestionControlFeedback(
                senderSSRC: 1, streams: [.init(ssrc: 2, beginSequence: sequence, packets: [.init(age: age)])],
                reportTimestamp: timestamp)
        }
        for index in 0..<3 { _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index) * 100)) }
        let one = adapter.handle(report(0, timestamp: 65_536), now: at(50)) { $1 }
        let first = try #require(one?.results.first?.receiveTime)
        for round in 0..<20_000 {
            let useless = report(round % 2 == 0 ? 0 : 900, timestamp: round % 2 == 0 ? 0 : 0x8000_0000)
            #expect(adapter.handle(useless, now: at(100), transportSequence: { $1 }) == nil)
        }
        #expect(adapter.roundTripTime == .milliseconds(50))
        let two = adapter.handle(report(1, timestamp: 65_536 + 6554), now: at(150)) { $1 }
        let second = try #require(two?.results.first?.receiveTime)
        #expect(((second - first).milliseconds - 100).magnitude < 0.1)
        let three = adapter.handle(report(2, timestamp: 0x9000_0000), now: at(250)) { $1 }
        let third = try #require(three?.results.first?.receiveTime)
        #expect(third - second == .milliseconds(100))
    }

    @Test("each packet is reported once, and once more when it was late")
    func duplicates() throws {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<3 { _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index))) }
        #expect(adapter.handle(feedback(base: 0, deltas: [0, nil]), now: at(50)) != nil)
        #expect(adapter.handle(feedback(base: 0, deltas: [0, nil]), now: at(60)) == nil)
        let matchedLate = adapter.handle(feedback(base: 0, deltas: [0, 1]), now: at(70))
        let late = try #require(matchedLate)
        #expect(late.results.count == 1)
        #expect(late.results[0].wasReportedMissing)
        #expect(adapter.handle(feedback(base: 0, deltas: [0, 1]), now: at(80)) == nil)
    }

    @Test("packets that were never sent are ignored")
    func unknown() {
        var adapter = TransportFeedbackAdapter()
        #expect(adapter.handle(feedback(base: 0, deltas: [1, 2, 3]), now: at(0)) == nil)
        for index in 0..<10 { _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index))) }
        #expect(adapter.handle(feedback(base: 10, deltas: [1, 2, 3]), now: at(20)) == nil)
        #expect(adapter.dataInFlight == bytes(12_000))
    }

    @Test("sequence numbers wrap")
    func sequenceWraps() throws {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<70_000 {
            _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index) * 0.1))
        }
        let matchedReport = adapter.handle(feedback(base: 65_534, deltas: [0, 1, 2, 3]), now: at(7010))
        let report = try #require(matchedReport)
        #expect(report.results.map(\.sent.transportSequence) == [65_534, 65_535, 65_536, 65_537])
    }

    @Test("memory is bounded, and forgotten packets are no longer in flight")
    func bounded() {
        var adapter = TransportFeedbackAdapter()
        for index in 0..<100_000 {
            _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(Double(index) * 0.01))
        }
        #expect(adapter.dataInFlight.bytes == TransportFeedbackAdapter.maximumPacketCount * 1200)
        _ = adapter.packetSent(size: .packet, probeClusterID: nil, now: at(60_000))
        #expect(adapter.dataInFlight == .packet)
    }

    @Test(
        "the adapter understands the recorder's reports: arrivals to a quarter of a millisecond, losses, reordering"
    )
    func roundTrip() throws {
        var random = SeededGenerator(seed: 3)
        var adapter = TransportFeedbackAdapter()
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        var arrivals: [(time: MonotonicInstant, sequence: UInt16)] = []
        var lost: Set<Int64> = []
        for index in 0..<2000 {
            let now = at(Double(index) * 4)
            let (sequence, packet) = adapter.packetSent(size: .packet, probeClusterID: nil, now: now)
            if Int.random(in: 0..<10, using: &random) == 0 {
                lost.insert(packet.transportSequence)
            } else {
                arrivals.append((now + .microseconds(Int64.random(in: 1000...40_000, using: &random)), sequence))
            }
        }
        arrivals.sort { $0.time < $1.time }
        var results: [Int64: PacketResult] = [:]
        let offset = Duration.seconds(1_000_000)
        for (time, sequence) in arrivals {
            while recorder.nextFeedbackTime <= time + offset {
                let now = recorder.nextFeedbackTime
                for feedback in recorder.makeFeedback(mediaSSRC: 2, now: now) {
                    let decoded = try RTCPPacket.parse(compound: RTCPPacket.encode([.transportFeedback(feedback)]))
                    guard case .transportFeedback(let feedback)? = decoded.first else {
                        Issue.record("feedback was not understood")
                        return
                    }
                    for result in adapter.handle(feedback, now: now - offset)?.results ?? [] {
                        results[result.sent.transportSequence] = result
                    }
                }
            }
            recorder.received(transportSequence: sequence, now: time + offset)
        }
        let received = results.values.filter { $0.receiveTime != nil }
        #expect(received.count > 1750)
        #expect(received.allSatisfy { !lost.contains($0.sent.transportSequence) })
        let sent = Dictionary(uniqueKeysWithValues: arrivals.map { (Int64($0.sequence), $0.time) })
        let reference = try #require(received.first)
        let shift = try #require(reference.receiveTime) - (sent[reference.sent.transportSequence] ?? .zero)
        for result in received {
            let error = try #require(result.receiveTime) - (sent[result.sent.transportSequence] ?? .zero) - shift
            #expect(error.milliseconds.magnitude <= 0.5)
        }
    }

    @Test("feedback is due 50 ms after the last, and only when something arrived")
    func due() {
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        #expect(recorder.nextFeedbackTime == .distantFuture)
        #expect(recorder.makeFeedback(mediaSSRC: 2, now: at(0)) == [])
        recorder.received(transportSequence: 1, now: at(10))
        #expect(recorder.nextFeedbackTime <= at(10))
        #expect(recorder.makeFeedback(mediaSSRC: 2, now: at(10)).count == 1)
        #expect(recorder.nextFeedbackTime > at(100))
        recorder.received(transportSequence: 2, now: at(20))
        #expect(recorder.nextFeedbackTime > at(59))
        #expect(recorder.nextFeedbackTime <= at(60))
    }

    @Test("a late packet is reported with the packets after it")
    func late() throws {
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        for sequence: UInt16 in [10, 11, 13] { recorder.received(transportSequence: sequence, now: at(10)) }
        let firstBatch = recorder.makeFeedback(mediaSSRC: 2, now: at(20))
        let first = try #require(firstBatch.first)
        #expect(first.packets.map(\.isReceived) == [true, true, false, true])
        recorder.received(transportSequence: 12, now: at(30))
        let secondBatch = recorder.makeFeedback(mediaSSRC: 2, now: at(70))
        let second = try #require(secondBatch.first)
        #expect(second.packets.map(\.sequence) == [12, 13])
        #expect(second.packets.map(\.isReceived) == [true, true])
        #expect(second.feedbackCount == first.feedbackCount + 1)
    }

    @Test("a packet older than the memory is no news, after 256 feedback packets either")
    func forgotten() {
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        for index in 0..<256 {
            recorder.received(transportSequence: UInt16(10 + index), now: at(Double(index) * 100))
            let feedback = recorder.makeFeedback(mediaSSRC: 2, now: at(Double(index) * 100 + 50))
            #expect(feedback.map(\.feedbackCount) == [UInt8(index)])
        }
        recorder.received(transportSequence: 5, now: at(25_600))
        #expect(recorder.nextFeedbackTime == .distantFuture)
    }

    @Test("a sender whose numbers begin again is reported on after 16 packets in order", arguments: [20_000, 64_000])
    func restart(first: UInt16) {
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        for index in 0..<100 as Range<UInt16> {
            recorder.received(transportSequence: 40_000 + index, now: at(Double(index) * 10))
            _ = recorder.makeFeedback(mediaSSRC: 2, now: at(Double(index) * 10 + 5))
        }
        var reported: [UInt16] = []
        for index in 0..<40 as Range<UInt16> {
            recorder.received(transportSequence: first &+ index, now: at(2000 + Double(index) * 10))
            let feedback = recorder.makeFeedback(mediaSSRC: 2, now: at(2005 + Double(index) * 10))
            reported += feedback.flatMap(\.packets).filter(\.isReceived).map(\.sequence)
        }
        // Numbers far above all others begin again at once.
        #expect(reported == (first &+ (first < 40_000 ? 15 : 0)..<first &+ 40).map { $0 })
    }

    @Test("packets that come late, however many, are no restart while others continue the stream")
    func lateOnes() {
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        for index in 0..<200 as Range<UInt16> {
            recorder.received(transportSequence: 40_000 + index, now: at(Double(index) * 100))
            recorder.received(transportSequence: 30_000 + index, now: at(Double(index) * 100 + 1))
            let feedback = recorder.makeFeedback(mediaSSRC: 2, now: at(Double(index) * 100 + 50))
            #expect(feedback.flatMap(\.packets).map(\.sequence) == [40_000 + index])
        }
        // Nor are packets that come late out of order.
        for index in 0..<200 as Range<UInt16> {
            recorder.received(transportSequence: 30_000 + index ^ 1, now: at(20_000 + Double(index)))
        }
        #expect(recorder.nextFeedbackTime == .distantFuture)
    }

    @Test("a pause longer than a delta can say starts another feedback packet")
    func longPause() {
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        recorder.received(transportSequence: 1, now: at(0))
        recorder.received(transportSequence: 2, now: at(20_000))
        let feedback = recorder.makeFeedback(mediaSSRC: 2, now: at(20_000))
        #expect(feedback.map(\.baseSequence) == [1, 2])
        #expect(feedback[1].referenceTime == 20_000 / 64)
    }

    @Test("numbers that jump again and again are not remembered as missing, and those that a path loses are")
    func jumps() {
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        for index in 0..<100 {
            recorder.received(transportSequence: UInt16(truncatingIfNeeded: index * 4000), now: at(0))
        }
        #expect(recorder.makeFeedback(mediaSSRC: 2, now: at(0)).map(\.packets.count) == [1])
        recorder.received(transportSequence: UInt16(truncatingIfNeeded: 99 * 4000 + 300), now: at(100))
        #expect(recorder.makeFeedback(mediaSSRC: 2, now: at(100)).map(\.packets.count) == [300])
    }

    @Test("hostile sequence numbers neither trap nor make feedback without bounds")
    func hostileSequences() {
        var random = SeededGenerator(seed: 11)
        var recorder = TransportFeedbackRecorder(senderSSRC: 1)
        var now = at(0)
        for index in 0..<50_000 {
            now += .microseconds(Int64.random(in: 0...2000, using: &random))
            recorder.received(transportSequence: UInt16.random(in: 0...UInt16.max, using: &random), now: now)
            if index % 100 == 0 {
                let feedback = recorder.makeFeedback(mediaSSRC: 2, now: now)
                let count = feedback.reduce(0) { $0 + $1.packets.count }
                #expect(count <= TransportFeedbackRecorder.window)
                #expect(feedback.allSatisfy { $0.packets.count <= TransportFeedbackRecorder.maximumStatusCount })
            }
        }
    }
}
