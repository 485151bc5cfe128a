import MediaCore
import Testing

@testable import Conference
@testable import RoomMedia

/// Where pictures and sound of a recording go in its film, over the length of a long call.
@Suite("The placement of sound") struct AudioPlacementTests {
    /// A sender's stream on its way into a recording: its clock is a little wrong, and the network delays its packets.
    private struct Stream {
        var clock = TrackClock()
        let timescale: Int32
        let skew: Double
        var origin: Int64
        var random: SeededGenerator

        /// The recording's time of something that was captured so many seconds ago.
        mutating func time(of seconds: Double) -> Double {
            let media = MediaTime(
                value: origin + Int64((seconds * (1 + skew) * Double(timescale)).rounded()), timescale: timescale)
            let isDelayed = UInt8.random(in: 0..<4, using: &random) == 0
            let delay = 0.01 + (isDelayed ? Double.random(in: 0..<0.06, using: &random) : 0)
            return (clock.time(of: media, arrival: .zero + .seconds(clamping: seconds + delay)).time - .zero).seconds
        }
    }

    /// True if the microphone is off at a time: for some seconds now and then, and for an hour.
    private func isMuted(_ seconds: Double) -> Bool {
        (3000..<4800).contains(seconds) || seconds.truncatingRemainder(dividingBy: 97) < 11
    }

    @Test("keeps it within 20 ms of the pictures for two hours: clocks 100 ppm apart, losses, mutes, reconnects")
    func twoHours() {
        var random = SeededGenerator(seed: 3)
        var placement = AudioPlacement()
        var video = Stream(timescale: 90_000, skew: 50e-6, origin: 4_000_000_000, random: SeededGenerator(seed: 1))
        var audio = Stream(timescale: 48_000, skew: -50e-6, origin: 17, random: SeededGenerator(seed: 2))
        var videoError = 0.0
        var (largest, largestStep, packets, lost) = (0.0, 0.0, 0, 0)
        var began = 0.0
        var nextFrame = 0
        for index in 0..<(7200 * 50) {
            let seconds = Double(index) / 50
            // The sender comes back every 20 minutes with new clocks and a new track.
            if index > 0, index.isMultiple(of: 60_000) {
                began = seconds
                video.clock = TrackClock()
                audio.clock = TrackClock()
                video.origin = Int64.random(in: 0..<(1 << 32), using: &random)
                audio.origin = Int64.random(in: 0..<(1 << 32), using: &random)
            }
            while Double(nextFrame) / 30 <= seconds {
                let captured = Double(nextFrame) / 30
                videoError = video.time(of: captured) - captured
                nextFrame += 1
            }
            guard !isMuted(seconds) else { continue }
            // One packet in a hundred is lost, and now and then several in a row.
            if UInt8.random(in: 0..<100, using: &random) == 0 || index % 5000 < 3 {
                lost += 1
                continue
            }
            let time = audio.time(of: seconds)
            let before = placement.end
            let step = placement.place(960, at: time)
            let start = Double(before + Int64(step.concealed + step.silence)) / 48_000
            packets += 1
            largestStep = max(largestStep, Double(abs(step.stretch)))
            // The clocks settle while the first packets come.
            if seconds - began > 15 { largest = max(largest, abs(start - seconds - videoError)) }
        }
        #expect(largest < 0.02, "\(largest * 1000) ms")
        #expect(largestStep <= 19)
        #expect(packets > 200_000 && lost > 2000)
    }

    @Test("conceals where packets are missing, and puts what follows at its time")
    func loss() {
        var placement = AudioPlacement()
        #expect(placement.place(960, at: 0) == AudioPlacement.Step())
        #expect(placement.place(960, at: 0.06) == AudioPlacement.Step(concealed: 1920))
        #expect(placement.end == 3840)
        #expect(placement.place(960, at: 0.1001) == AudioPlacement.Step(concealed: 960))
        #expect(placement.place(960, at: 0.1201) == AudioPlacement.Step(stretch: 5))
    }

    @Test("puts silence in a longer gap")
    func gap() {
        var placement = AudioPlacement()
        #expect(placement.place(960, at: 0.08) == AudioPlacement.Step(silence: 3840))
        #expect(placement.end == 4800)
    }

    @Test("makes small differences good a few samples at a time, and leaves out what comes twice")
    func drift() {
        var placement = AudioPlacement()
        #expect(placement.place(960, at: 0.001) == AudioPlacement.Step(stretch: 19))
        #expect(placement.place(960, at: 0.0201) == AudioPlacement.Step(stretch: -14))
        #expect(placement.place(960, at: 0.01) == AudioPlacement.Step(omitted: 960))
    }

    @Test("takes any time that a damaged file has", arguments: [-1e300, -1, .nan, .infinity, 1e300])
    func hostile(time: Double) {
        var placement = AudioPlacement()
        for _ in 0..<3 {
            let step = placement.place(960, at: time)
            #expect(step.silence >= 0 && step.omitted >= 0 && step.omitted <= 960)
        }
    }
}
