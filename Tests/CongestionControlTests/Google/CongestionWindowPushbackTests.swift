import MediaCore
import Testing

@testable import CongestionControl

@Suite("Congestion window pushback")
struct CongestionWindowPushbackTests {
    /// A window for 1 Mbit/s and round trips of 100 ms: 450 ms, 56 250 bytes.
    private func makePushback(outstanding: Int) -> CongestionWindowPushback {
        var pushback = CongestionWindowPushback()
        pushback.heard(longest: .milliseconds(300), outstanding: .zero)
        pushback.heard(longest: .milliseconds(100), outstanding: .zero)
        pushback.updateWindow(target: .megabits(1))
        pushback.packetSent(size: bytes(outstanding))
        return pushback
    }

    @Test("the window is the data that the target carries in the shortest round trip plus 350 ms")
    func window() {
        var pushback = makePushback(outstanding: 0)
        #expect(pushback.window == bytes(56_250))
        // Half of the way to a target of 600 kbit/s: 33 750 bytes.
        pushback.updateWindow(target: .kilobits(600))
        #expect(pushback.window == bytes(45_000))
    }

    @Test("there is no window before feedback, and none below two packets")
    func noWindow() {
        var pushback = CongestionWindowPushback()
        pushback.updateWindow(target: .megabits(1))
        #expect(pushback.window == nil)
        pushback.packetSent(size: bytes(1_000_000))
        pushback.update()
        #expect(pushback.ratio == 1)
        pushback.heard(longest: .milliseconds(10), outstanding: .zero)
        pushback.updateWindow(target: .kilobits(5))
        #expect(pushback.window == bytes(3000))
    }

    @Test("each look takes 5 % beyond the window, 10 % beyond one and a half, and gives back 5 % below")
    func ratio() {
        var pushback = makePushback(outstanding: 60_000)
        pushback.update()
        #expect(pushback.ratio == 0.95)
        pushback.packetSent(size: bytes(30_000))
        pushback.update()
        #expect(abs(pushback.ratio - 0.855) < 1e-12)
        pushback.heard(longest: nil, outstanding: bytes(30_000))
        pushback.update()
        #expect(abs(pushback.ratio - 0.855 * 1.05) < 1e-12)
        pushback.heard(longest: nil, outstanding: bytes(5000))
        pushback.update()
        #expect(pushback.ratio == 1)
    }

    @Test("frames are left out by the part that the rate is to fall by, half of them at most")
    func frameDrops() {
        var pushback = makePushback(outstanding: 60_000)
        func interval() -> Int? { pushback.frameDropInterval(target: .megabits(1), minimum: .kilobits(150)) }
        #expect(interval() == nil)
        pushback.update()
        // 5 %: one in 20, which 0.95 just misses in binary.
        #expect(interval() == 19 || interval() == 20)
        for _ in 0..<30 { pushback.update() }
        #expect(interval() == 2)
        // At the minimum nothing is left out.
        #expect(pushback.frameDropInterval(target: .kilobits(150), minimum: .kilobits(150)) == nil)
    }

    @Test("the rate for the encoder stays at 30 kbit/s, or at the target where that is lower")
    func minimumRate() {
        var pushback = makePushback(outstanding: 600_000)
        for _ in 0..<100 { pushback.update() }
        #expect(pushback.rate(of: .megabits(1)) == .kilobits(30))
        #expect(pushback.rate(of: .kilobits(20)) == .kilobits(20))
    }
}
