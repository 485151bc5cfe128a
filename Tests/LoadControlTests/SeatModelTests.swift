import MediaCore
import Testing
import VideoCoding

@testable import LoadControl

/// The number of participants for which a machine of known costs has time.
@Suite struct SeatModelTests {
    /// Approximately the costs on two cores of a laptop.
    static func calibration(scaledBy factor: Double = 1) -> Calibration {
        var calibration = Calibration(canvas: VideoDimensions(width: 1280, height: 720), encoder: .openH264)
        calibration.decode = 0.00035 * factor
        calibration.compose = CompositionCost(source: 0.00015 * factor, picture: 0.0005 * factor)
        calibration.encode = [.fastest: 0.0027 * factor, .balanced: 0.0033 * factor, .quality: 0.0034 * factor]
        calibration.audioDecode = 0.000032 * factor
        calibration.audioEncode = 0.00014 * factor
        return calibration
    }

    private func model(_ factor: Double = 1, workers: Int = 2, encoders: Int? = 4) -> SeatModel {
        SeatModel(
            calibration: Self.calibration(scaledBy: factor), workers: workers, frameRate: 30, preset: .balanced,
            maximumEncoders: encoders)
    }

    @Test("the less there is to encode, the more fit")
    func servings() {
        let seats = SeatModel.Serving.allCases.map { model().seats($0) }
        #expect(seats == seats.sorted())
        #expect((8...13).contains(seats[0]), "\(seats)")
        #expect((36...90).contains(seats[1]), "\(seats)")
        #expect(Set(seats).count == seats.count)
    }

    @Test("twice the costs are half the seats, twice the cores twice as many, about")
    func scaling() {
        let seats = model().seats(.dedicated)
        #expect(abs(model(2).seats(.dedicated) - seats / 2) <= 1)
        #expect(abs(model(workers: 4).seats(.dedicated) - seats * 2) <= 1)
        #expect(model(encoders: nil).seats(.groups) < model(encoders: 2).seats(.groups))
    }

    @Test("the seats left shrink with each participant, and with its actual cost")
    func seatsLeft() {
        func left(_ count: Int, factor: Double = 1) -> Int {
            let room = SeatModel.Work(sources: count, receivers: count, pictures: 1, encoders: 1)
            return model().seatsLeft(beside: count == 0 ? [] : [room], factor: factor)
        }
        let all = model().seats(.cheapest)
        #expect(abs(left(0) - all) <= 1)
        #expect(abs(left(10) - (all - 10)) <= 1)
        #expect(left(all + 1) == 0)
        #expect(left(10, factor: 2) < left(10) / 2)
    }

    @Test("of the processor's and a device's time the scarcer one decides")
    func device() {
        var calibration = Self.calibration()
        calibration.device.encode = 0.004
        func model() -> SeatModel {
            SeatModel(calibration: calibration, workers: 16, frameRate: 30, preset: .balanced, maximumEncoders: nil)
        }
        // Thirty pictures a second of 4 ms each: seven encoders take 84 % of the device.
        #expect(model().seats(.dedicated) == 7)
        #expect(model().seats(.sharedView) > 100)
        let room = SeatModel.Work(sources: 10, receivers: 10, pictures: 1, encoders: 1)
        #expect(model().seatsLeft(beside: [room], factor: 1) > 100)
        calibration.device.decode = 0.001
        // At 15 pictures a second the encoder takes 6 % of the device, each camera 3 %.
        #expect(model().seatsLeft(beside: [room], factor: 1) == 16)
        calibration.device.compose = CompositionCost(source: 0.001, picture: 0.002)
        // Composing takes 18 % of it for ten, and each further camera 1.5 % more.
        #expect(model().seatsLeft(beside: [room], factor: 1) == 6)
    }

    @Test("costs that are none or without bound give no more than a bounded number")
    func strangeCosts() {
        var calibration = Calibration(canvas: VideoDimensions(width: 16, height: 16), encoder: .openH264)
        func seats() -> [Int] {
            let model = SeatModel(
                calibration: calibration, workers: 2, frameRate: 1, preset: .balanced, maximumEncoders: nil)
            return SeatModel.Serving.allCases.map { model.seats($0) } + [model.seatsLeft(beside: [], factor: 1)]
        }
        #expect(seats().allSatisfy { (0...SeatModel.most).contains($0) })
        calibration.decode = .infinity
        #expect(seats() == [0, 0, 0, 0, 0])
    }

    @Test("the actual cost of jobs is known after some of them, and forgotten after a while")
    func costFactor() {
        var factor = CostFactor()
        var now = MonotonicInstant.zero
        #expect(factor.value == 1)
        func work(_ seconds: Int, busy: Double) {
            for _ in 0..<seconds * 10 {
                now = now + .milliseconds(100)
                factor.observe(busy: busy / 10, expected: 0.05, now: now)
            }
        }
        work(10, busy: 1)
        #expect(abs(factor.value - 2) < 0.1)
        work(30, busy: 0.5)
        #expect(abs(factor.value - 1) < 0.1)
        work(30, busy: 100)
        #expect(factor.value == 4)
    }
}
