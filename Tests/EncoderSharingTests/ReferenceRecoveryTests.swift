import MediaCore
import Testing
import VideoCoding

@testable import EncoderSharing

/// The handling of a receiver's losses, with frames of which only the times matter.
@Suite struct ReferenceRecoveryTests {
    private static let roundTrip = Duration.milliseconds(300)
    private static let token = LongTermReference(frameNumber: 15, keyframeID: 1)

    /// A recovery that is told of frames, 30 a second.
    private final class Rig {
        var recovery = ReferenceRecovery()
        var method = LossRecovery.longTermReferences
        /// The number of the next frame.
        var next = 0

        static func time(_ number: Int) -> MonotonicInstant { .zero + .seconds(10) + .milliseconds(33) * number }
        var now: MonotonicInstant { Self.time(next) }

        func encode(
            _ count: Int = 1, type: FrameType = .p, isRefresh: Bool = false, keeping reference: LongTermReference? = nil
        ) {
            for _ in 0..<count {
                recovery.encoded(
                    type: type, reference: reference, at: Self.time(next), method: method, isRefresh: isRefresh)
                next += 1
            }
        }

        func acknowledge(_ number: Int) -> Bool { recovery.acknowledged(Self.time(number)) }

        func lose() -> ReferenceRecovery.Answer {
            recovery.lost(roundTripTime: ReferenceRecoveryTests.roundTrip, now: now)
        }
    }

    private func begun() -> Rig {
        let rig = Rig()
        rig.encode(type: .idr)
        rig.encode(20)
        return rig
    }

    @Test("a keyframe that was not told of is answered with another")
    func unknown() {
        let rig = begun()
        #expect(rig.lose() == .keyframe)
    }

    @Test("behind a picture that arrived the encoder goes back to the keyframe before it")
    func keyframeKept() {
        let rig = begun()
        #expect(!rig.acknowledge(8))
        #expect(rig.lose() == .refresh)
        #expect(rig.recovery.isWanted)
        let request = rig.recovery.takeRequest()
        #expect(request.acknowledged == nil)
        #expect(request.lostFrom == Rig.time(8) + .nanoseconds(1))
        // Until it came out.
        #expect(rig.recovery.takeRequest().lostFrom != nil)
        rig.encode(isRefresh: true)
        #expect(rig.recovery.takeRequest().lostFrom == nil)
    }

    @Test("a kept frame is reported to the encoder once, when a picture at or after it has arrived")
    func told() {
        let rig = begun()
        rig.encode(keeping: Self.token)
        rig.encode(10)
        _ = rig.acknowledge(20)
        #expect(rig.recovery.takeRequest().acknowledged == nil)
        #expect(rig.recovery.base == Rig.time(0))
        _ = rig.acknowledge(24)
        #expect(rig.recovery.base == Rig.time(21))
        #expect(rig.recovery.takeRequest().acknowledged == Self.token)
        #expect(rig.recovery.takeRequest().acknowledged == nil)
    }

    @Test("a kept frame before a refresh does not count as received because of frames after the refresh")
    func keptBeforeRefresh() {
        let rig = begun()
        _ = rig.acknowledge(10)
        rig.encode(keeping: Self.token)
        rig.encode(10)
        #expect(rig.lose() == .refresh)
        rig.encode(isRefresh: true)
        rig.encode(20)
        #expect(rig.acknowledge(rig.next - 5))
        #expect(rig.recovery.base == Rig.time(0))
        #expect(rig.recovery.takeRequest().acknowledged == nil)
    }

    @Test("a refresh counts as used once, when a picture at or behind it has arrived")
    func used() {
        let rig = begun()
        _ = rig.acknowledge(10)
        _ = rig.lose()
        let refresh = rig.next
        rig.encode(isRefresh: true)
        rig.encode(20)
        #expect(!rig.acknowledge(15))
        #expect(rig.acknowledge(refresh))
        #expect(!rig.acknowledge(refresh + 3))
    }

    @Test("a report from before a refresh could have arrived is no news")
    func tooEarly() {
        let rig = begun()
        _ = rig.acknowledge(10)
        #expect(rig.lose() == .refresh)
        #expect(rig.lose() == .wait)
        rig.encode(isRefresh: true)
        rig.encode(8)
        #expect(rig.lose() == .wait)
    }

    @Test("after two unsuccessful refreshes a keyframe is made, and then refreshes are tried again")
    func inVain() {
        let rig = begun()
        _ = rig.acknowledge(10)
        for _ in 0..<2 {
            #expect(rig.lose() == .refresh)
            rig.encode(isRefresh: true)
            rig.encode(15)
        }
        #expect(rig.lose() == .keyframe)
        rig.encode(type: .idr)
        rig.encode(15)
        _ = rig.acknowledge(rig.next - 1)
        #expect(rig.lose() == .refresh)
    }

    @Test("a refresh that arrived restarts the count")
    func counting() {
        let rig = begun()
        _ = rig.acknowledge(10)
        for _ in 0..<6 {
            #expect(rig.lose() == .refresh)
            rig.encode(isRefresh: true)
            rig.encode(15)
            #expect(rig.acknowledge(rig.next - 2))
        }
    }

    @Test("a received picture that is too old is not used: a keyframe is made")
    func tooOld() {
        let rig = begun()
        rig.encode(200)
        _ = rig.acknowledge(rig.next - 1)
        #expect(rig.lose() == .keyframe)
    }

    @Test("acknowledgements of pictures before the last keyframe do not cover the keyframe")
    func older() {
        let rig = begun()
        rig.encode(type: .idr)
        rig.encode(15)
        _ = rig.acknowledge(20)
        #expect(rig.recovery.base == nil)
        #expect(rig.lose() == .keyframe)
    }

    @Test("a picture that comes out as something else than was requested is not waited for")
    func failed() {
        let rig = begun()
        _ = rig.acknowledge(10)
        #expect(rig.lose() == .refresh)
        rig.recovery.refreshFailed()
        #expect(!rig.recovery.isWanted)
    }

    @Test("an encoder that keeps nothing makes a keyframe")
    func nothingKept() {
        let rig = Rig()
        rig.method = .keyframes
        rig.encode(type: .idr)
        rig.encode(20)
        _ = rig.acknowledge(10)
        #expect(rig.lose() == .keyframe)
    }

    @Test("pictures that are refreshed in parts get two and a half rounds, each time")
    func intraRefresh() {
        let rig = Rig()
        rig.method = .intraRefresh(round: .seconds(1))
        rig.encode(type: .idr)
        rig.encode(30)
        for _ in 0..<2 {
            for _ in 0..<5 {
                #expect(rig.lose() == .wait)
                rig.encode(15)
            }
            rig.encode(120)
        }
        for _ in 0..<6 {
            #expect(rig.lose() == .wait)
            rig.encode(15)
        }
        #expect(rig.lose() == .keyframe)
    }

    @Test("a loss in each third round is another one, and a lasting one gets a keyframe after growing intervals")
    func refreshesOfSeveralLosses() {
        let rig = Rig()
        rig.method = .intraRefresh(round: .seconds(1))
        rig.encode(type: .idr)
        rig.encode(30)
        for _ in 0..<5 {
            // Reports at 0, 0.25, 0.6 and 1.2 s; the next loss comes at 3.1 s.
            for frames in [8, 11, 17] {
                #expect(rig.lose() == .wait)
                rig.encode(frames)
            }
            #expect(rig.lose() == .wait)
            rig.encode(57)
        }
        var answers: [ReferenceRecovery.Answer] = []
        for frames in [8, 11, 17, 25, 38, 57] {
            answers.append(rig.lose())
            rig.encode(frames)
        }
        #expect(answers == [.wait, .wait, .wait, .wait, .wait, .keyframe])
    }
}
