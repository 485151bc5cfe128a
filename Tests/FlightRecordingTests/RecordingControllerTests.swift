import CongestionControl
import FlightRecording
import MediaCore
import Testing

@Suite("A controller that is recorded")
struct RecordingControllerTests {
    /// Records its calls.
    private struct Scripted: CongestionController {
        var calls: [String] = []

        mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) { calls.append("packet") }
        mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
            calls.append("feedback")
        }
        mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) { calls.append("estimate") }
        mutating func receiverReportReceived(fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant) {
            calls.append("report")
        }
        mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) { calls.append("demand") }
        mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) { calls.append("limits") }
        mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) { calls.append("queue") }
        mutating func frameDelayChanged(_ delay: Duration, now: MonotonicInstant) { calls.append("frame delay") }
        mutating func advance(now: MonotonicInstant) -> ControlDecision {
            ControlDecision(
                targetBitRate: .kilobits(Double(calls.count)), pacingRate: .zero, nextWakeUp: now + .seconds(1))
        }
        var snapshot: ControllerSnapshot {
            ControllerSnapshot(targetBitRate: .kilobits(42), probeCount: calls.count)
        }
    }

    @Test("all its calls reach the controller and the recording, in order")
    func everything() throws {
        let memory = FlightMemory()
        let recorder = FlightRecorder(header: .test, sink: memory)
        var controller = RecordingController(Scripted(), recorder: recorder)
        let start = FlightHeader.test.start
        let packet = SentPacket(transportSequence: 0, size: DataSize(bytes: 99), sendTime: start)
        let report = TransportFeedbackReport(
            results: [PacketResult(sent: packet, receiveTime: .zero)], feedbackTime: start, dataInFlight: .zero)
        controller.packetSent(packet, now: start)
        controller.feedbackReceived(report, now: start)
        controller.remoteEstimateReceived(.kilobits(700), now: start)
        controller.receiverReportReceived(fractionLost: 0.25, roundTripTime: .milliseconds(30), now: start)
        controller.demandChanged(.kilobits(800), now: start)
        controller.limitsChanged(.test, now: start)
        controller.senderQueueChanged(DataSize(bytes: 5), now: start)
        controller.frameDelayChanged(.milliseconds(9), now: start)
        let decision = controller.advance(now: start + .seconds(1))
        recorder.finish()
        #expect(controller.snapshot.probeCount == 8)
        #expect(decision.targetBitRate == .kilobits(8))
        #expect(
            try decode(memory.bytes).records == [
                FlightRecord(time: start, event: .packetSent(packet)),
                FlightRecord(time: start, event: .feedbackReceived(report)),
                FlightRecord(time: start, event: .remoteEstimateReceived(.kilobits(700))),
                FlightRecord(
                    time: start, event: .receiverReportReceived(fractionLost: 0.25, roundTripTime: .milliseconds(30))),
                FlightRecord(time: start, event: .demandChanged(.kilobits(800))),
                FlightRecord(time: start, event: .limitsChanged(.test)),
                FlightRecord(time: start, event: .senderQueueChanged(DataSize(bytes: 5))),
                FlightRecord(time: start, event: .frameDelayChanged(.milliseconds(9))),
                FlightRecord(time: start + .seconds(1), event: .decided(decision)),
            ])
    }
}
