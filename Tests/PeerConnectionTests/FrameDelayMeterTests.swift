import MediaCore
import Testing

@testable import PeerConnection

@Suite("The delay from a target to its frame")
struct FrameDelayMeterTests {
    @Test("is reported at first, and then when its mean has changed by a millisecond")
    func changes() {
        var meter = FrameDelayMeter()
        #expect(meter.add(.milliseconds(10)) == .milliseconds(10))
        #expect(meter.add(.milliseconds(14)) == nil)
        #expect(meter.add(.milliseconds(18)) == .microseconds(11_437.5))
        #expect(meter.add(.milliseconds(11)) == nil)
    }

    @Test("is not told while there is none")
    func none() {
        var meter = FrameDelayMeter()
        #expect(meter.add(.zero) == nil)
    }
}
