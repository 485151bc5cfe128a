import Foundation
import MediaCore
import Testing
import VideoCoding

@testable import Conference
@testable import RelayServer

/// What the server tells of the governor.
@Suite struct ReadinessTests {
    private func report(_ governor: GovernorSnapshot?, isServing: Bool = true) -> ServerReport {
        ServerReport(
            relay: RelaySnapshot(governor: governor), socket: MediaSocketCounters(), workers: WorkerPoolStatistics(),
            workerCount: 2, isServing: isServing)
    }

    @Test("a relay that has seats is ready, with how many")
    func ready() {
        var governor = GovernorSnapshot()
        governor.level = .cheapestPreset
        governor.seatsLeft = 5
        governor.measures = GovernorSnapshot.sentence([.cheapestPreset])
        let readiness = Readiness(report(governor))
        #expect(readiness.ready && readiness.reason == nil && readiness.retryAfter == nil)
        #expect(readiness.seatsLeft == 5)
        #expect(readiness.level == .cheapestPreset)
        #expect(readiness.measures == "The relay is short of time: encoders take the least time.")
    }

    @Test("one that refuses joins is not, and says why and until when")
    func refusing() {
        var governor = GovernorSnapshot()
        governor.refusal = .init(reason: "no seats", retryAfter: 30)
        let readiness = Readiness(report(governor))
        #expect(!readiness.ready)
        #expect(readiness.reason == "no seats")
        #expect(readiness.retryAfter == 30)
    }

    @Test("without a governor it is ready while media is served")
    func withoutGovernor() {
        #expect(Readiness(report(nil)).ready)
        #expect(!Readiness(report(nil, isServing: false)).ready)
        #expect(Readiness(report(nil)).level == nil)
    }

    @Test("the log tells what was measured, and each change with what it was decided by")
    func log() {
        var calibration = Calibration(canvas: VideoDimensions(width: 1280, height: 720), encoder: .openH264)
        calibration.decode = 0.000354
        calibration.composeSource = 0.0001
        calibration.composePicture = 0.0006
        calibration.encode = [.fastest: 0.0025, .balanced: 0.0031, .quality: 0.0031]
        let model = SeatModel(
            calibration: calibration, workers: 2, frameRate: 30, preset: .balanced, maximumEncoders: 4)
        let line = GovernorLog.line(calibration, model)
        #expect(
            line.hasPrefix("calibrated: decode 0.35 ms, compose 1.50 ms of nine, encode 3.10 ms (balanced); about "))
        #expect(line.contains(" \(model.seats(.groups)) seats "))
        let change = GovernorChange(
            Governor.Transition(from: .normal, to: .cheapestPreset, load: 0.874, busy: 0.7), seatsLeft: 4)
        #expect(
            GovernorLog.line(change)
                == "governor: short of time: normal -> cheapest-preset (ticks take 87 % of their time, "
                + "workers are busy for 70 %, 4 seats left)")
    }

    @Test("the sentence names all measures in force")
    func sentence() {
        #expect(GovernorSnapshot.sentence([]) == nil)
        #expect(
            GovernorSnapshot.sentence([.cheapestPreset, .sharedView, .halfFrameRate])
                == "The relay is short of time: encoders take the least time, everyone sees the same picture, "
                + "and every second picture is left out.")
    }

    @Test("levels are told by names, which are read again")
    func names() throws {
        for level in GovernorLevel.allCases {
            let data = try JSONEncoder().encode([level])
            #expect(String(decoding: data, as: UTF8.self) == "[\"\(level.name)\"]")
            #expect(try JSONDecoder().decode([GovernorLevel].self, from: data) == [level])
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([GovernorLevel].self, from: Data(#"["sleepy"]"#.utf8))
        }
    }
}
