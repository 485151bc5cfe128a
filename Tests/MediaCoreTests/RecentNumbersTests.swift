import MediaCore
import Testing

@Suite struct RecentNumbersTests {
    @Test("each number is new once, in whatever order the last 64 come")
    func repeats() {
        var recent = RecentNumbers()
        #expect(recent.newest == nil)
        for number in [100, 103, 101, 163] as [Int64] { #expect(recent.insert(number) == .new) }
        for number in [100, 101, 103, 163] as [Int64] { #expect(recent.insert(number) == .repeated) }
        #expect(recent.insert(102) == .new)
        #expect(recent.newest == 163)
    }

    @Test("older numbers are unknown, and a jump forgets all")
    func far() {
        var recent = RecentNumbers()
        #expect(recent.insert(10) == .new)
        #expect(recent.insert(74) == .new)
        #expect(recent.insert(10) == .unknown)
        #expect(recent.insert(11) == .new)
        #expect(recent.insert(.max) == .new)
        #expect(recent.insert(74) == .unknown)
        #expect(recent.insert(.min) == .unknown)
        #expect(recent.insert(.max) == .repeated)
    }
}
