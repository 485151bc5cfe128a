import MediaCore
import Testing

@testable import CongestionControl

@Suite("The model of the path")
struct PathModelTests {
    private let parameters = ConfrelayParameters()

    /// Sends packets over a link of one rate, 20 ms long each way, and tells the model when they arrive.
    ///
    /// - Parameter times: when each packet leaves, in ms.
    private func send(
        _ times: [Double], size: Int = 1000, rate: Double, to model: inout PathModel, busyUntil: Double = 0,
        sequence: Int64 = 0
    ) -> Double {
        var busy = busyUntil
        for (index, time) in times.enumerated() {
            let packet = SentPacket(
                transportSequence: sequence + Int64(index), size: bytes(size), sendTime: at(time))
            model.packetSent(packet)
            busy = max(busy, time) + Double(size) * 8 / rate * 1e3
            let arrival = busy + 20
            model.feedbackReceived(
                newestSequence: packet.transportSequence, newestArrival: arrival / 1e3, now: at(arrival + 20))
            _ = model.packetArrived(packet, at: arrival / 1e3, now: at(arrival + 20))
        }
        return busy
    }

    @Test("trains that use a third of a link measure all of it")
    func dispersion() {
        var model = PathModel(start: 125_000, SharedParameters(parameters))
        // Four packets of 1000 bytes at once each 33 ms: 1 Mbit/s over a link of 3.
        for frame in 0..<60 {
            let time = Double(frame) * 33
            _ = send([time, time, time, time], rate: 3e6, to: &model, busyUntil: time, sequence: Int64(frame) * 4)
        }
        #expect(abs(model.capacity.rate * 8 / 3e6 - 1) < 0.05)
        #expect(model.roundTripTime.map { abs($0.milliseconds - 42.7) < 0.5 } == true)
    }

    @Test("data in flight queues for the time that the capacity predicts")
    func prediction() throws {
        var model = PathModel(start: 125_000, SharedParameters(parameters))
        _ = send([0, 0, 0, 0], rate: 1e6, to: &model)
        // Ten packets of 1000 bytes leave at once: 80 ms at 1 Mbit/s.
        for index in 0..<10 {
            model.packetSent(
                SentPacket(transportSequence: Int64(10 + index), size: bytes(1000), sendTime: at(100)))
        }
        let prediction = try #require(model.prediction(waiting: 0, now: at(100)))
        #expect(abs(prediction.queueDelay * 1e3 - 80) < 10)
        let withSenderQueue = try #require(model.prediction(waiting: 1250, now: at(100)))
        #expect(abs((withSenderQueue.queueDelay - prediction.queueDelay) * 1e3 - 10) < 2)
    }

    @Test("a packet that comes a round trip late counts as sent again, and one that others overtook does not")
    func repair() {
        var model = PathModel(start: 125_000, SharedParameters(parameters))
        // The packets take 28 ms, their feedback 20 ms more.
        _ = send((0..<20).map { Double($0) * 33 }, rate: 1e6, to: &model)
        let packet = SentPacket(transportSequence: 10, size: bytes(1000), sendTime: at(330))
        #expect(!model.isRepair(packet, at: 0.330 + 0.028 + 0.030))
        #expect(model.isRepair(packet, at: 0.330 + 0.028 + 0.060))
    }

    @Test("feedback that stays away is a queue before it comes")
    func silence() throws {
        var model = PathModel(start: 125_000, SharedParameters(parameters))
        _ = send([0, 0, 0, 0], rate: 1e6, to: &model)
        for sequence in 0..<10 {
            model.packetSent(
                SentPacket(transportSequence: Int64(10 + sequence), size: bytes(1000), sendTime: at(100)))
        }
        // The round trip is 48 ms; 200 ms later the first of them has been stuck for 150.
        let early = try #require(model.prediction(waiting: 0, now: at(150)))
        let late = try #require(model.prediction(waiting: 0, now: at(300)))
        #expect(early.queueDelay < 0.05)
        #expect(late.queueDelay > 0.1)
        #expect(late.rate < early.rate)
    }

    @Test("an interruption does not take the capacity away")
    func interruption() {
        var capacity = CapacityEstimator(start: 500_000, parameters: parameters)
        for _ in 0..<100 { capacity.add(bytes: 1000, busyTime: 0.002) }
        capacity.add(bytes: 1000, busyTime: 1)
        #expect(capacity.rate > 100_000)
        for _ in 0..<40 { capacity.add(bytes: 1000, busyTime: 0.002) }
        #expect(abs(capacity.rate / 500_000 - 1) < 0.3)
    }

    @Test("the error of prediction is small on a steady link and large on one that changes")
    func predictionError() {
        var steady = PredictionError(parameters: ConfrelayParameters())
        var changing = PredictionError(parameters: ConfrelayParameters())
        for step in 0..<3000 {
            let time = Double(step) * 0.01
            steady.add(bytes: 1000, busyTime: 0.004, at: time, rate: 250_000)
            let isFast = step / 20 % 2 == 0
            changing.add(bytes: 1000, busyTime: isFast ? 0.002 : 0.008, at: time, rate: isFast ? 500_000 : 125_000)
        }
        #expect(steady.value < 0.05)
        #expect(steady.excess(jitter: 0) == 0)
        #expect(changing.excess(jitter: 0.01) < changing.excess(jitter: 0))
        #expect(changing.value > 0.25)
    }
}
