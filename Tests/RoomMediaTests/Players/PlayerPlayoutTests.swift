import MediaCore
import MediaFiles
import RoomAPI
import Testing

@testable import RoomMedia

/// When pictures and audio of films and live streams are shown and heard, on virtual time.
@Suite struct PlayerPlayoutTests {
    /// A playout that is fed as it asks, and run tick by tick.
    private struct Rig {
        var playout: PlayerPlayout
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        /// The next picture and the next audio that come, by their times in the film.
        var nextPicture = Duration.zero
        var nextAudio = Duration.zero
        let end: Duration
        /// The samples of each packet of audio.
        var packetSize = PlayerPlayout.frameSize
        var audioEnd = Duration.seconds(7200)
        /// True while nothing comes.
        var isStalled = false
        var pictures: [(time: MonotonicInstant, place: Duration)] = []
        var audio: [(time: MonotonicInstant, place: Duration)] = []
        var dues: [MonotonicInstant] = []
        var hasEnded = false
        private var places: [ObjectIdentifier: Duration] = [:]

        init(
            isLive: Bool = false, hasAudio: Bool = true, settings: PlayerSettings = PlayerSettings(),
            place: Duration = .zero, end: Duration = .seconds(10)
        ) {
            playout = PlayerPlayout(
                isLive: isLive, hasVideo: true, hasAudio: hasAudio, settings: settings, place: place)
            self.end = end
            hasTrack = hasAudio
        }

        private let hasTrack: Bool

        mutating func feed() {
            while !isStalled, playout.wantsMore {
                guard nextPicture < end else {
                    playout.end()
                    return
                }
                var buffer = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 16, height: 16))
                // The number of the picture, in its samples.
                let number = Int((nextPicture / .milliseconds(40)).rounded())
                buffer.withMutablePlane(0) { bytes, _ in
                    bytes[0] = UInt8(number & 255)
                    bytes[1] = UInt8(number >> 8 & 255)
                    bytes[2] = UInt8(number >> 16)
                }
                playout.take(.picture(buffer.freeze(), at: nextPicture), now: now)
                nextPicture += .milliseconds(40)
                while hasTrack, nextAudio < min(nextPicture, audioEnd) {
                    let number = Float((nextAudio / .milliseconds(20)).rounded())
                    playout.take(.audio(Array(repeating: number / 1000, count: packetSize), at: nextAudio), now: now)
                    nextAudio += .milliseconds(20) * packetSize / PlayerPlayout.frameSize
                }
            }
        }

        mutating func run(for duration: Duration) {
            let end = now + duration
            while now <= end, !hasEnded {
                feed()
                switch playout.next(now: now) {
                case .show(let picture):
                    let number = picture.withPlane(0) { bytes, _ in
                        Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
                    }
                    pictures.append((now, .milliseconds(40) * number))
                case .play(let frame, let due):
                    audio.append((now, .milliseconds(20) * Int((frame[0] * 1000).rounded())))
                    dues.append(due)
                case .wait(let until): now = max(min(until, now + .milliseconds(10)), now + .milliseconds(1))
                case .end: hasEnded = true
                }
            }
        }
    }

    @Test("a film's pictures and audio come at their times, every one of them, and then the end")
    func film() {
        var rig = Rig(end: .seconds(2))
        let start = rig.now
        rig.run(for: .seconds(5))
        #expect(rig.pictures.map(\.place) == (0..<50).map { .milliseconds(40) * $0 })
        #expect(rig.audio.map(\.place) == (0..<100).map { .milliseconds(20) * $0 })
        for shown in rig.pictures + rig.audio {
            #expect(abs((shown.time - start - shown.place) / .milliseconds(1)) <= 11)
        }
        #expect(rig.hasEnded && rig.playout.framesShown == 50 && rig.playout.framesDropped == 0)
    }

    @Test("audio that is fetched late says when it was due")
    func dueOfLateAudio() {
        var rig = Rig()
        rig.run(for: .seconds(1))
        let count = rig.audio.count
        rig.now += .milliseconds(90)
        rig.run(for: .milliseconds(200))
        #expect(Set(rig.audio[count...].prefix(4).map(\.time)).count == 1)
        #expect(Set(zip(rig.dues, rig.audio).map { $0 - $1.place }).count == 1)
    }

    @Test("a paused film stands, its picture is shown on, and it goes on where it stood")
    func paused() {
        var rig = Rig()
        rig.run(for: .seconds(1))
        rig.playout.set(PlayerSettings(isPaused: true), now: rig.now)
        let count = (rig.pictures.count, rig.audio.count)
        let place = rig.playout.place(now: rig.now)
        rig.run(for: .seconds(3))
        #expect(Set(rig.pictures[count.0...].map(\.place)) == [rig.pictures[count.0 - 1].place])
        #expect(rig.pictures.count - count.0 >= 5 && rig.audio.count == count.1)
        #expect(rig.playout.place(now: rig.now) == place)
        rig.playout.set(PlayerSettings(), now: rig.now)
        let repeated = rig.pictures.count
        rig.run(for: .milliseconds(200))
        #expect(rig.pictures[repeated].place == rig.pictures[count.0 - 1].place + .milliseconds(40))
    }

    @Test("a seek shows the picture of that place first, also while the film is paused", arguments: [false, true])
    func seek(isPaused: Bool) {
        var rig = Rig()
        rig.run(for: .seconds(1))
        rig.playout.set(PlayerSettings(isPaused: isPaused), now: rig.now)
        rig.playout.seek(to: .milliseconds(5500))
        // Playing begins at a keyframe before the place.
        (rig.nextPicture, rig.nextAudio) = (.seconds(5), .seconds(5))
        let before = (rig.pictures.count, rig.audio.count)
        rig.run(for: .milliseconds(300))
        #expect(rig.pictures[before.0].place == .milliseconds(5480))
        #expect(rig.playout.place(now: rig.now) >= .milliseconds(5500))
        if isPaused {
            #expect(rig.audio.count == before.1)
        } else {
            let first = rig.audio[before.1].place
            #expect((.milliseconds(5480)...(.milliseconds(5520))).contains(first))
        }
    }

    @Test("at twice the rate the film passes in half the time, without audio")
    func rate() {
        var rig = Rig(settings: PlayerSettings(rate: 2), end: .seconds(4))
        let start = rig.now
        rig.run(for: .seconds(10))
        #expect(rig.hasEnded && rig.audio.isEmpty)
        #expect((1.9...2.1).contains((rig.now - start) / .seconds(1)))
    }

    @Test("a film of which nothing comes stands, and loses nothing", arguments: [960, 1024])
    func stalled(packetSize: Int) {
        var rig = Rig()
        rig.packetSize = packetSize
        rig.run(for: .seconds(1))
        rig.isStalled = true
        rig.run(for: .seconds(3))
        #expect(rig.playout.place(now: rig.now) < .milliseconds(1500))
        rig.isStalled = false
        rig.run(for: .seconds(2))
        let places = rig.pictures.map(\.place)
        let new = zip(places, places.dropFirst()).filter { $0 != $1 }
        #expect(new.allSatisfy { $1 - $0 == .milliseconds(40) })
        #expect(places.last ?? .zero > .milliseconds(2500))
        #expect(rig.playout.framesDropped == 0)
    }

    @Test("a film whose audio has ended goes on after a pause where it stood")
    func endedAudio() {
        var rig = Rig(end: .seconds(60))
        (rig.packetSize, rig.audioEnd) = (1024, .seconds(1))
        rig.run(for: .seconds(10))
        rig.playout.set(PlayerSettings(isPaused: true), now: rig.now)
        rig.run(for: .seconds(1))
        rig.playout.set(PlayerSettings(), now: rig.now)
        rig.run(for: .seconds(2))
        #expect(rig.pictures.last?.place ?? .zero > .milliseconds(11_500))
        #expect(rig.playout.place(now: rig.now) < .milliseconds(12_500))
    }

    @Test("a live stream that has fallen behind goes on at its newest packet")
    func live() {
        var rig = Rig(isLive: true)
        rig.run(for: .seconds(1))
        let place = rig.playout.place(now: rig.now)
        rig.playout.newestCame(at: place + PlayerPlayout.longestLiveDelay, now: rig.now)
        #expect(rig.playout.place(now: rig.now) == place)
        rig.playout.newestCame(at: place + .seconds(2), now: rig.now)
        #expect(rig.playout.place(now: rig.now) == place + .seconds(2) - PlayerPlayout.liveDelays.lowerBound)
    }

    @Test("a live stream whose audio comes in bursts behind its pictures is played later, with all of its audio")
    func lateAudio() {
        var playout = PlayerPlayout(isLive: true, hasVideo: true, hasAudio: true, settings: PlayerSettings())
        let start = MonotonicInstant(nanoseconds: 1_000_000_000)
        let picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 16, height: 16)).freeze()
        var heard: Set<Int> = []
        // Ticks of 10 ms, for five seconds: a picture each 40 ms, audio each 340 ms.
        for tick in 0..<500 {
            let time = Duration.milliseconds(10 * tick)
            let now = start + time
            if tick.isMultiple(of: 4) {
                playout.take(.picture(picture, at: time), now: now)
                playout.newestCame(at: time, now: now)
            }
            if tick % 34 == 33 {
                for frame in (tick + 1 - 34) / 2..<(tick + 1) / 2 {
                    let samples = [Float](repeating: Float(frame) / 1000, count: 960)
                    playout.take(.audio(samples, at: .milliseconds(20 * frame)), now: now)
                }
            }
            steps: while true {
                switch playout.next(now: now) {
                case .play(let frame, _): heard.insert(Int((frame[0] * 1000).rounded()))
                case .show: continue
                case .wait, .end: break steps
                }
            }
        }
        #expect((50..<200).allSatisfy(heard.contains), "\(heard.sorted())")
        let delay = Duration.seconds(5) - playout.place(now: start + .seconds(5))
        #expect(delay > .milliseconds(300) && delay <= PlayerPlayout.longestLiveDelay, "\(delay)")
    }

    @Test(
        "a stream whose times begin anew goes on with them, be it live or HLS", arguments: [true, false],
        [Duration.zero, .seconds(3600)])
    func jump(isLive: Bool, to place: Duration) {
        var rig = Rig(isLive: isLive, end: .seconds(7200))
        rig.playout.newestCame(at: .zero, now: rig.now)
        (rig.nextPicture, rig.nextAudio) = (.seconds(100), .seconds(100))
        rig.run(for: .seconds(1))
        (rig.nextPicture, rig.nextAudio) = (place, place)
        let before = (rig.pictures.count, rig.audio.count)
        rig.run(for: .seconds(6))
        let expected = place..<place + .seconds(10)
        #expect(rig.pictures[before.0...].count(where: { expected.contains($0.place) }) >= 120)
        #expect(rig.audio[before.1...].count(where: { expected.contains($0.place) }) >= 200)
        #expect(rig.playout.place(now: rig.now) < place + .seconds(7))
    }

    @Test("a film of slides waits for each of them")
    func slides() {
        var playout = PlayerPlayout(isLive: false, hasVideo: true, hasAudio: false, settings: PlayerSettings())
        let start = MonotonicInstant(nanoseconds: 1_000_000_000)
        for slide in 0..<3 {
            let size = VideoDimensions(width: 16, height: 16)
            let picture = MutablePixelBuffer(format: .i420, dimensions: size).freeze()
            playout.take(.picture(picture, at: .seconds(10 * slide)), now: start)
        }
        playout.end()
        for tenth in 0..<198 { _ = playout.next(now: start + .milliseconds(100 * tenth)) }
        #expect(playout.framesShown == 2)
        for tenth in 198..<205 { _ = playout.next(now: start + .milliseconds(100 * tenth)) }
        #expect(playout.framesShown == 3)
    }

    @Test("the last picture of a film is seen as long as the film has it, and stays while the film is paused")
    func lastPicture() {
        var playout = PlayerPlayout(
            isLive: false, hasVideo: true, hasAudio: false, settings: PlayerSettings(isPaused: true))
        let picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 16, height: 16)).freeze()
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        func isOver(within duration: Duration) -> Bool {
            let end = now + duration
            while now < end {
                now = now + .milliseconds(100)
                if case .end = playout.next(now: now) { return true }
            }
            return false
        }
        playout.take(.picture(picture, at: .zero), now: now)
        playout.end(lastPictureFor: .seconds(3))
        var isOverAfterStep = [isOver(within: .seconds(5))]
        #expect(playout.framesShown == 1)
        playout.set(PlayerSettings(), now: now)
        isOverAfterStep.append(isOver(within: .milliseconds(1500)))
        playout.set(PlayerSettings(isPaused: true), now: now)
        isOverAfterStep.append(isOver(within: .seconds(5)))
        playout.set(PlayerSettings(), now: now)
        isOverAfterStep.append(isOver(within: .seconds(1)))
        isOverAfterStep.append(isOver(within: .seconds(1)))
        #expect(isOverAfterStep == [false, false, false, false, true])
    }

    @Test("a live stream that ends while it is paused is over at once")
    func endOfPausedStream() {
        var rig = Rig(isLive: true, settings: PlayerSettings(isPaused: true))
        rig.feed()
        rig.playout.end()
        guard case .end = rig.playout.next(now: rig.now) else {
            Issue.record("it goes on")
            return
        }
    }

    @Test("the volume changes the samples, which stay in their range")
    func volume() {
        var playout = PlayerPlayout(
            isLive: false, hasVideo: false, hasAudio: true, settings: PlayerSettings(volume: 4))
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        playout.take(.audio([0.1, -0.5] + Array(repeating: 0, count: 958), at: .zero), now: now)
        playout.end()
        guard case .play(let frame, _) = playout.next(now: now) else {
            Issue.record("no audio")
            return
        }
        #expect(abs(frame[0] - 0.4) < 0.001 && frame[1] == -1)
    }

    @Test("audio whose times run backwards is decoded ahead no further than other audio")
    func backwards() {
        var playout = PlayerPlayout(
            isLive: false, hasVideo: false, hasAudio: true, settings: PlayerSettings(isPaused: true))
        let now = MonotonicInstant(nanoseconds: 1_000_000_000)
        var count = 0
        while playout.wantsMore, count < 1000 {
            count += 1
            playout.take(
                .audio(Array(repeating: 0, count: 960), at: .seconds(100) - .milliseconds(20) * count), now: now)
        }
        #expect(count == 10)
    }
}
