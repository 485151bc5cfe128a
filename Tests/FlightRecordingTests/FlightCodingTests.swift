import CongestionControl
import MediaCore
import RTP
import Testing

@testable import FlightRecording

@Suite("The format of flight recordings")
struct FlightCodingTests {
    private func recording(seed: UInt64, count: Int, ending: FlightEnding? = .closed) -> (
        bytes: [UInt8], records: [FlightRecord]
    ) {
        var encoder = FlightEncoder(header: .test)
        var bytes = encoder.bytes
        var flight = RandomFlight(seed: seed, start: FlightHeader.test.start)
        var records: [FlightRecord] = []
        for _ in 0..<count {
            let record = flight.next()
            records.append(record)
            encoder.encode(record.event, time: record.time)
            bytes += encoder.bytes
        }
        if let ending { bytes += FlightEncoder.endRecord(ending) }
        return (bytes, records)
    }

    @Test("encoded records are decoded exactly", arguments: UInt64(0)..<20)
    func roundTrip(seed: UInt64) throws {
        let (bytes, records) = recording(seed: seed, count: 300)
        let decoded = try decode(bytes)
        #expect(decoded.header == .test)
        #expect(decoded.records == records)
        #expect(decoded.ending == .closed)
    }

    @Test("the format covers every part of a recording: a new part must be added there and to the random events here")
    func parts() throws {
        let packet = SentPacket(transportSequence: 0, size: .zero, sendTime: .zero)
        let result = PacketResult(sent: packet, receiveTime: nil)
        let report = TransportFeedbackReport(results: [], feedbackTime: .zero, dataInFlight: .zero)
        let decision = ControlDecision(targetBitRate: .zero, pacingRate: .zero, nextWakeUp: .zero)
        let cluster = ProbeCluster(id: 0, rate: .zero)
        func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }
        #expect(names(packet) == ["transportSequence", "size", "sendTime", "probeClusterID"])
        #expect(names(result) == ["sent", "receiveTime", "wasReportedMissing", "ecn"])
        #expect(names(report) == ["results", "feedbackTime", "dataInFlight"])
        #expect(names(RateLimits(minimum: .zero, start: .zero, maximum: .zero)) == ["minimum", "start", "maximum"])
        #expect(names(cluster) == ["id", "rate", "minimumPackets", "minimumDuration"])
        #expect(
            names(decision) == [
                "targetBitRate", "sustainedBitRate", "pacingRate", "pacingBurst", "paddingRate", "congestionWindow",
                "newProbeClusters", "frameTimeout", "videoPause", "nextWakeUp",
            ])
    }

    @Test(
        "an ending is reported",
        arguments: [FlightEnding.closed, .limitReached, .overrun(lostRecords: 12_345)])
    func endings(ending: FlightEnding) throws {
        #expect(try decode(recording(seed: 1, count: 3, ending: ending).bytes).ending == ending)
    }

    @Test("floating-point numbers are kept to the bit")
    func exactNumbers() throws {
        var encoder = FlightEncoder(header: .test)
        var bytes = encoder.bytes
        let values = [0.1, 1.0 / 3, 0, Double.leastNonzeroMagnitude, 1, 0.999_999_999_999_999_9]
        for value in values {
            encoder.encode(
                .receiverReportReceived(fractionLost: value, roundTripTime: .nanoseconds(1) / 3),
                time: FlightHeader.test.start)
            bytes += encoder.bytes
        }
        let events = try decode(bytes).records.map(\.event)
        #expect(events == values.map { .receiverReportReceived(fractionLost: $0, roundTripTime: .nanoseconds(1) / 3) })
    }

    @Test("a plain packet takes at most ten bytes, and a packet in a report at most ten")
    func compactness() {
        var encoder = FlightEncoder(header: .test)
        var time = FlightHeader.test.start
        var results: [PacketResult] = []
        for sequence in 0..<20 {
            time += .milliseconds(4)
            let packet = SentPacket(transportSequence: Int64(sequence), size: DataSize(bytes: 1188), sendTime: time)
            encoder.encode(.packetSent(packet), time: time)
            #expect(encoder.bytes.count <= 10)
            results.append(PacketResult(sent: packet, receiveTime: time + .milliseconds(31)))
        }
        let report = TransportFeedbackReport(results: results, feedbackTime: time, dataInFlight: .zero)
        encoder.encode(.feedbackReceived(report), time: time)
        #expect(encoder.bytes.count <= 10 * results.count + 20)
    }

    @Test("a file that was cut off anywhere is used as far as it goes")
    func truncation() throws {
        let (bytes, records) = recording(seed: 3, count: 60)
        let headerEnd = FlightEncoder(header: .test).bytes.count
        var counts: [Int] = []
        for length in headerEnd..<bytes.count {
            let decoded = try decode(Array(bytes[..<length]))
            #expect(decoded.records == Array(records.prefix(decoded.records.count)))
            guard case .truncated(let offset) = decoded.ending else {
                Issue.record("the end is not told at \(length)")
                return
            }
            #expect(offset <= length)
            counts.append(decoded.records.count)
        }
        #expect(counts == counts.sorted() && counts.last == records.count)
    }

    @Test("a header that was cut off is no recording")
    func truncatedHeader() {
        let bytes = FlightEncoder(header: .test).bytes
        for length in 0..<bytes.count {
            #expect(throws: length == 0 ? FlightDecodingError.notAFlight : .noHeader) {
                try decode(Array(bytes[..<length]))
            }
        }
    }

    @Test("zeros that a file system left at the end are a truncation, zeros elsewhere are damage")
    func zeros() throws {
        let (bytes, records) = recording(seed: 4, count: 10, ending: nil)
        let decoded = try decode(bytes + [UInt8](repeating: 0, count: 4096))
        #expect(decoded.records == records)
        #expect(decoded.ending == .truncated(offset: bytes.count))
        #expect(throws: FlightDecodingError.malformed(offset: bytes.count, reason: "an empty record")) {
            try decode(bytes + [0, 0, 1])
        }
    }

    @Test("a file of another kind or version is refused with that reason")
    func otherFiles() {
        #expect(throws: FlightDecodingError.notAFlight) { try decode(Array("0\n1\n2\n".utf8)) }
        #expect(throws: FlightDecodingError.unknownVersion(2)) { try decode(FlightFormat.magic + [2, 0]) }
    }

    @Test("impossible inputs of a controller are refused")
    func implausible() {
        let start = FlightHeader.test.start
        let packet = SentPacket(transportSequence: 0, size: DataSize(bytes: 100), sendTime: start)
        func report(_ packet: SentPacket) -> FlightEvent {
            .feedbackReceived(
                TransportFeedbackReport(
                    results: [PacketResult(sent: packet, receiveTime: start)], feedbackTime: start, dataInFlight: .zero)
            )
        }
        let impossible: [[(FlightEvent, MonotonicInstant)]] = [
            [(.demandChanged(.zero), start - .nanoseconds(1))],
            [(.demandChanged(.zero), start + .seconds(8 * 86_400))],
            [(.receiverReportReceived(fractionLost: .nan, roundTripTime: nil), start)],
            [(.receiverReportReceived(fractionLost: 1.5, roundTripTime: nil), start)],
            [(.receiverReportReceived(fractionLost: 0, roundTripTime: .seconds(1e10)), start)],
            [(.senderQueueChanged(DataSize(bytes: -1)), start)],
            [(.demandChanged(.megabits(1e9)), start)],
            [(.packetSent(packet), start), (.packetSent(packet), start)],
            [(report(packet), start)],
        ]
        for events in impossible {
            var encoder = FlightEncoder(header: .test)
            var bytes = encoder.bytes
            for (event, time) in events {
                encoder.encode(event, time: time)
                bytes += encoder.bytes
            }
            #expect(throws: FlightDecodingError.self, "\(events)") { try decode(bytes) }
        }
    }
}
