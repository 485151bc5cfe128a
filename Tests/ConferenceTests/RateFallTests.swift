import MediaCore
import Testing

/// One of several receivers has a link that falls from 2 Mbit/s to 300 kbit/s, with real encoders and controllers.
///
/// A picture encoded for 2 Mbit/s occupies a link of 300 kbit/s for 222 ms, and two or three of them are sent before a
/// report can show the fall; docs/encode-groups.md describes the consequences. The bounds here apply to the time after
/// that.
@Suite struct RateFallTests {
    private static let fallen = Result { try RateFall(roundTrip: .milliseconds(20)) }
    private static let untouched = Result { try RateFall(roundTrip: .milliseconds(20), falls: false) }
    /// The time that a picture of the old rate takes on the new link.
    private static let picture = RateFall.rates.after.duration(
        for: RateFall.rates.before.dataSize(over: .seconds(1) / 30))

    @Test("it is believed within 60 ms of the report that can tell of it, and a picture left out within 150 ms")
    func believed() throws {
        let fall = try Self.fallen.get()
        #expect(fall.told < .milliseconds(90), "\(fall.told)")
        #expect(fall.believed - fall.told < .milliseconds(60), "\(fall.believed) after \(fall.told)")
        #expect(fall.layerDrops - fall.told < .milliseconds(150), "\(fall.layerDrops) after \(fall.told)")
    }

    @Test("the link holds at most 200 ms of sent data, and one frame more than when the relay learned of it")
    func queued() throws {
        let fall = try Self.fallen.get()
        #expect(fall.longestQueueAtRateBefore < .milliseconds(200), "\(fall.longestQueueAtRateBefore)")
        // A frame of the lowest of three temporal layers is half as large again as the mean.
        #expect(fall.longestQueue - fall.queueWhenTold < Self.picture * 1.5, "\(fall.longestQueue)")
    }

    @Test("its picture continues: the gap is hardly longer than the link's time for a frame in flight")
    func goesOn() throws {
        let fall = try Self.fallen.get()
        // As above.
        #expect(fall.longestGap < Self.picture * 1.5, "\(fall.longestGap)")
        #expect(fall.decodeFailures == 0)
    }

    @Test("it has an encoder at its own rate within 2 s")
    func moved() throws {
        let fall = try Self.fallen.get()
        #expect(fall.moved < .seconds(2), "\(fall.moved)")
        #expect(fall.groupRate < .kilobits(400), "\(fall.groupRate)")
    }

    @Test("the others are sent, at the same moments, the same bytes as without the fall")
    func others() throws {
        let (fall, untouched) = (try Self.fallen.get(), try Self.untouched.get())
        #expect(fall.othersFrames.allSatisfy { $0.count > 200 })
        let isSame = fall.othersFrames == untouched.othersFrames
        #expect(isSame)
        #expect(fall.othersTimes == untouched.othersTimes)
    }
}
