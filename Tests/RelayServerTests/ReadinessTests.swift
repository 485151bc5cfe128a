import Foundation
import LoadControl
import MediaCore
import Testing
import VideoCoding

@testable import Conference
@testable import RelayServer

/// The server's answers about readiness under overload control.
@Suite struct ReadinessTests {
    private func report(_ overload: OverloadSnapshot?, isServing: Bool = true) -> ServerReport {
        ServerReport(
            relay: RelaySnapshot(overload: overload), socket: MediaSocketCounters(), workers: WorkerPoolStatistics(),
            workerCount: 2, isServing: isServing)
    }

    @Test("a relay that has seats is ready, with how many")
    func ready() {
        var overload = OverloadSnapshot()
        overload.level = .cheapestPreset
        overload.seatsLeft = 5
        overload.measures = OverloadSnapshot.sentence([.cheapestPreset])
        let readiness = Readiness(report(overload))
        #expect(readiness.ready && readiness.reason == nil && readiness.retryAfter == nil)
        #expect(readiness.seatsLeft == 5)
        #expect(readiness.level == .cheapestPreset)
        #expect(readiness.measures == "The relay is short of time: encoders take the least time.")
    }

    @Test("one that only waits for its calls to end is not")
    func draining() {
        var report = report(OverloadSnapshot())
        report.relay.isDraining = true
        #expect(!Readiness(report).ready)
        #expect(Readiness(report).reason?.contains("takes no more joins") == true)
    }

    @Test("a relay that refuses joins is not ready, and states the reason and the time")
    func refusing() {
        var overload = OverloadSnapshot()
        overload.refusal = .init(reason: "no seats", retryAfter: 30)
        let readiness = Readiness(report(overload))
        #expect(!readiness.ready)
        #expect(readiness.reason == "no seats")
        #expect(readiness.retryAfter == 30)
    }

    @Test("without overload control it is ready while media is served")
    func withoutOverloadControl() {
        #expect(Readiness(report(nil)).ready)
        #expect(!Readiness(report(nil, isServing: false)).ready)
        #expect(Readiness(report(nil)).level == nil)
    }

    @Test("the log has the measurements, and each change with the measurements that caused it")
    func log() {
        var calibration = Calibration(canvas: VideoDimensions(width: 1280, height: 720), encoder: .openH264)
        calibration.decode = 0.000354
        calibration.compose = CompositionCost(source: 0.0001, picture: 0.0006)
        calibration.encode = [.fastest: 0.0025, .balanced: 0.0031, .quality: 0.0031]
        let model = SeatModel(
            calibration: calibration, workers: 2, frameRate: 30, preset: .balanced, maximumEncoders: 4)
        let line = OverloadLog.line(calibration, model)
        #expect(
            line.hasPrefix("calibrated: decode 0.35 ms, compose 1.50 ms of nine, encode 3.10 ms (balanced); about "))
        #expect(line.contains(" \(model.seats(.groups)) seats "))
        calibration.device.encode = 0.0012
        #expect(OverloadLog.line(calibration, model).contains(", encode 1.20 ms on a GPU (balanced)"))
        let change = OverloadChange(
            OverloadPolicy.Transition(from: .normal, to: .cheapestPreset, load: 0.874, busy: 0.7), seatsLeft: 4)
        #expect(
            OverloadLog.line(change)
                == "overload: short of time: normal -> cheapest-preset (ticks take 87 % of their time, "
                + "workers are busy for 70 %, 4 seats left)")
    }

    @Test("the sentence names all measures in force")
    func sentence() {
        #expect(OverloadSnapshot.sentence([]) == nil)
        #expect(
            OverloadSnapshot.sentence([.cheapestPreset, .sharedView, .halfFrameRate])
                == "The relay is short of time: encoders take the least time, everyone sees the same picture, "
                + "and there are half of the pictures a second.")
    }

    @Test("levels are written as names, which can be read back")
    func names() throws {
        for level in OverloadLevel.allCases {
            let data = try JSONEncoder().encode([level])
            #expect(String(decoding: data, as: UTF8.self) == "[\"\(level.name)\"]")
            #expect(try JSONDecoder().decode([OverloadLevel].self, from: data) == [level])
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([OverloadLevel].self, from: Data(#"["sleepy"]"#.utf8))
        }
    }
}
