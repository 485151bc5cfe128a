import MediaCore
import RTP
import Testing

@testable import Conference

/// The move of a recorded sender's pictures to its audio.
@Suite struct LipSyncTests {
    private let wallClock = WallClock(ntpAtOrigin: NTPTime(unixTime: .seconds(1_800_000_000)))

    /// Pictures that come so much later than the audio of the same instant, for some seconds. Returns the shift.
    ///
    /// - Parameter laterDelay: The delay of the second half of the pictures; nil: the same.
    private func shift(
        delay: Duration, seconds: Int, reportsFrom first: Int = 0, audioUntil last: Int = .max,
        then laterDelay: Duration? = nil
    ) -> [Duration] {
        var lipSync = LipSync()
        var shift = LipSync.Shift()
        return (0..<seconds * 10).map { index in
            let captured = MonotonicInstant.zero + .milliseconds(index * 100)
            let senderTime = wallClock.ntpTime(at: captured)
            if index >= first * 10, index / 10 < last {
                lipSync.audioPlaced(at: captured + .milliseconds(30), senderTime: senderTime)
            }
            let delay = index < seconds * 5 ? delay : laterDelay ?? delay
            lipSync.move(
                &shift, ofPictureAt: captured + .milliseconds(30) + delay,
                senderTime: index >= first * 10 ? senderTime : nil)
            return shift.value
        }
    }

    @Test("pictures are at their audio from the first one on, where reports have come before")
    func reported() {
        #expect(
            shift(delay: .milliseconds(80), seconds: 5).allSatisfy { ($0 + .milliseconds(80)).seconds.magnitude < 1e-6 }
        )
        #expect(
            shift(delay: .milliseconds(-40), seconds: 5).allSatisfy {
                ($0 - .milliseconds(40)).seconds.magnitude < 1e-6
            })
    }

    @Test("where reports come later, pictures move by 2 % and never back in time")
    func later() {
        let shifts = shift(delay: .milliseconds(80), seconds: 20, reportsFrom: 5)
        #expect(shifts[49] == .zero)
        #expect(zip(shifts, shifts.dropFirst()).allSatisfy { ($1 - $0).seconds.magnitude < 0.1 * 0.0201 })
        #expect((shifts[100] + .milliseconds(80)).seconds.magnitude < 1e-6)
    }

    @Test("what reports say is left aside where it is beyond half a second, and where the audio is long over")
    func unbelievable() {
        #expect(shift(delay: .milliseconds(700), seconds: 10).allSatisfy { $0 == .zero })
        let shifts = shift(delay: .milliseconds(80), seconds: 60, audioUntil: 1, then: .milliseconds(200))
        #expect(Set(shifts).count == 1)
        let followed = shift(delay: .milliseconds(80), seconds: 60, then: .milliseconds(200))
        #expect(Set(followed).count > 1)
    }
}
