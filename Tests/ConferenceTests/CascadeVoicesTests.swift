import MediaCore
import Testing

@testable import Conference

@Suite("The voices that cross")
struct CascadeVoicesTests {
    private func level(_ decibels: UInt8) -> AudioLevel { AudioLevel(decibelsBelowOverload: decibels) }

    @Test("are the three loudest, with a hold of half a second and a margin of 6 dB")
    func loudest() {
        var voices = CascadeVoices()
        var now = MonotonicInstant.zero
        func step(_ levels: [UInt64: UInt8]) -> Set<UInt64> {
            defer { now = now + .milliseconds(20) }
            var chosen: Set<UInt64> = []
            for (id, decibels) in levels.sorted(by: { $0.key < $1.key })
            where voices.observe(
                level(decibels), size: DataSize(bytes: 100), of: ParticipantID(rawValue: id), now: now)
            { chosen.insert(id) }
            return chosen
        }
        for _ in 0..<10 { #expect(step([1: 30, 2: 32, 3: 34, 4: 60]) == [1, 2, 3]) }
        // Louder, but not for long enough, and then not by enough.
        #expect(step([1: 30, 2: 32, 3: 34, 4: 20]) == [1, 2, 3])
        for _ in 0..<60 { _ = step([1: 30, 2: 32, 3: 34, 4: 31]) }
        #expect(step([1: 30, 2: 32, 3: 34, 4: 31]).contains(4) == false)
        for _ in 0..<30 { _ = step([1: 30, 2: 32, 3: 34, 4: 10]) }
        #expect(step([1: 30, 2: 32, 3: 34, 4: 10]) == [1, 2, 4])
        // A voice that sends nothing any more gives its place up.
        for _ in 0..<100 { _ = step([1: 30, 2: 32, 3: 34]) }
        #expect(step([1: 30, 2: 32, 3: 34]) == [1, 2, 3])
    }

    @Test("take no more than Opus can have, however many packets come, and are heard again afterwards")
    func flood() {
        var voices = CascadeVoices()
        let ada = ParticipantID(rawValue: 1)
        var now = MonotonicInstant.zero
        func crossing(_ size: Int, each interval: Duration) -> Int {
            let end = now + .seconds(1)
            var bytes = 0
            while now < end {
                if voices.observe(level(10), size: DataSize(bytes: size), of: ada, now: now) { bytes += size }
                now += interval
            }
            return bytes
        }
        #expect(crossing(1250, each: .milliseconds(20)) == 62_500)
        #expect(crossing(1250, each: .microseconds(200)) < 200_000)
        #expect(crossing(1250, each: .microseconds(200)) < 100_000)
        _ = crossing(150, each: .milliseconds(20))
        #expect(crossing(150, each: .milliseconds(20)) == 7_500)
    }
}
