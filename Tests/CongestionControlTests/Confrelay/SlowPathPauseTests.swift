import MediaCore
import Testing

@testable import CongestionControl

@Suite("Pauses of video on slow paths")
struct SlowPathPauseTests {
    private var pause = SlowPathPause(parameters: ConfrelayParameters())

    private mutating func update(_ rate: BitRate?, from start: Double, to end: Double) {
        for time in stride(from: start, to: end, by: 10) {
            pause.update(rate: rate, minimum: .kilobits(150), delay: .milliseconds(100), now: at(time))
        }
    }

    @Test("two seconds below half of the minimum rate pause video")
    mutating func pauses() {
        update(.kilobits(70), from: 0, to: 1990)
        #expect(!pause.isActive)
        update(.kilobits(70), from: 1990, to: 2050)
        #expect(pause.isActive)
    }

    @Test("a path that carries more than half of the minimum rate is sent video")
    mutating func sends() {
        update(.kilobits(80), from: 0, to: 20_000)
        #expect(!pause.isActive)
    }

    @Test("video is tried for a moment every five seconds, and continues if the path carries more")
    mutating func trials() {
        update(.kilobits(70), from: 0, to: 2050)
        update(.kilobits(70), from: 2050, to: 7050)
        #expect(!pause.isActive)
        update(.kilobits(70), from: 7050, to: 7450)
        #expect(pause.isActive)
        update(.kilobits(90), from: 7450, to: 7500)
        #expect(!pause.isActive)
        update(.kilobits(70), from: 7500, to: 9400)
        #expect(!pause.isActive)
    }

    @Test("silence is no slow path")
    mutating func silence() {
        update(.kilobits(70), from: 0, to: 1500)
        update(nil, from: 1500, to: 10_000)
        #expect(!pause.isActive)
        update(.kilobits(70), from: 10_000, to: 11_500)
        #expect(!pause.isActive)
    }
}
