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
            where voices.observe(level(decibels), of: ParticipantID(rawValue: id), now: now) { chosen.insert(id) }
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
}
