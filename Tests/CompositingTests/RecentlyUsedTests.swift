import Testing

@testable import Compositing

@Suite("Values used lately")
struct RecentlyUsedTests {
    @Test("the least recently used values are removed first, and only as many as needed")
    func eviction() {
        var kept = RecentlyUsed<Int, String>(capacity: 10)
        for key in 0..<5 { kept.keep("\(key)", for: key, cost: 2) }
        #expect(kept.use(0) == "0")
        kept.keep("new", for: 9, cost: 3)
        #expect(kept.use(1) == nil && kept.use(2) == nil)
        #expect(kept.use(0) == "0" && kept.use(3) == "3" && kept.use(4) == "4" && kept.use(9) == "new")
        #expect(kept.cost == 9 && kept.count == 4)
    }

    @Test("a value takes the place of the one before")
    func replacement() {
        var kept = RecentlyUsed<Int, String>(capacity: 10)
        kept.keep("a", for: 1, cost: 7)
        kept.keep("b", for: 1, cost: 4)
        #expect(kept.use(1) == "b" && kept.cost == 4 && kept.count == 1)
    }

    @Test("a value that costs more than the limit is not kept")
    func tooDear() {
        var kept = RecentlyUsed<Int, String>(capacity: 10)
        kept.keep("a", for: 1, cost: 11)
        #expect(kept.use(1) == nil && kept.cost == 0)
    }
}
