import MediaCore
import Testing

@testable import Compositing

@Suite("Ramps")
struct RampTests {
    private func at(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1000) }
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: at(start), end: at(end))
    }

    @Test("a ramp holds its first value before it and its last one after it")
    func ends() {
        let ramp = Ramp(timeRange: range(100, 200), from: 0.25, to: 1, easing: .linear)
        #expect([0, 100, 140, 200, 300].map { ramp.value(at: at($0)) } == [0.25, 0.25, 0.55, 1, 1])
    }

    @Test(
        "a part of a ramp has the whole ramp's values in its time, and holds them outside of it",
        arguments: Easing.allCases)
    func part(easing: Easing) throws {
        let ramp = Ramp(
            timeRange: range(0, 300), from: PixelRect(x: 0, y: 0, width: 100, height: 80),
            to: PixelRect(x: 500, y: 300, width: 640, height: 360), easing: easing)
        let first = try #require(ramp.trimmed(to: range(-50, 130)))
        let second = try #require(ramp.trimmed(to: range(130, 1000)))
        #expect(first.timeRange == range(0, 130) && second.timeRange == range(130, 300))
        for time in stride(from: Int64(-20), to: 400, by: 9) {
            let part = time < 130 ? first : second
            #expect(part.value(at: at(time)) == ramp.value(at: at(time)))
        }
        #expect(first.endValue == second.startValue && first.value(at: at(250)) == first.endValue)
        #expect(second.startValue == second.value(at: at(0)) && second.endValue == ramp.to)
        #expect(ramp.trimmed(to: range(300, 400)) == nil)
    }

    @Test("the last ramp that has begun counts")
    func several() {
        let ramps = [
            Ramp(timeRange: range(100, 200), from: 0, to: 1.0, easing: .linear),
            Ramp(timeRange: range(300, 400), from: 1, to: 0.0, easing: .linear),
        ]
        #expect([50, 150, 250, 350, 450].map { ramps.value(at: at($0)) } == [0, 0.5, 1, 0.5, 0])
        #expect([Ramp<Double>]().value(at: at(0)) == nil)
    }

    @Test("corners have even positions during a change")
    func evenPositions() {
        let (from, to) = (
            PixelRect(x: 2, y: 4, width: 30, height: 20), PixelRect(x: 96, y: 50, width: 222, height: 124)
        )
        for step in 0...100 {
            let rect = PixelRect.interpolated(from: from, to: to, fraction: Double(step) / 100)
            #expect([rect.x, rect.y, rect.width, rect.height].allSatisfy { $0 % 2 == 0 })
        }
    }
}
