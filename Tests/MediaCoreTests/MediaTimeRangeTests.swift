import MediaCore
import Testing

@Suite struct MediaTimeRangeTests {
    private func range(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: MediaTime(value: start, timescale: 10), end: MediaTime(value: end, timescale: 30_000))
    }

    private func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

    private func whole(_ start: Int64, _ end: Int64) -> MediaTimeRange {
        MediaTimeRange(start: seconds(start), end: seconds(end))
    }

    @Test func `a range holds its start and not its end`() {
        let range = range(10, 60_000)
        #expect(range.duration == seconds(1))
        #expect(range.end == seconds(2))
        #expect(range.contains(seconds(1)))
        #expect(range.contains(MediaTime(value: 59_999, timescale: 30_000)))
        #expect(!range.contains(seconds(2)))
        #expect(!range.contains(.zero))
        #expect(!range.contains(.indefinite))
    }

    @Test func `a range holds those that lie within it`() {
        #expect(whole(1, 5).contains(whole(1, 5)))
        #expect(whole(1, 5).contains(whole(2, 3)))
        #expect(whole(1, 5).contains(whole(5, 5)))
        #expect(!whole(1, 5).contains(whole(4, 6)))
        #expect(MediaTimeRange.all.contains(whole(-9, 9)))
        #expect(!whole(-9, 9).contains(MediaTimeRange.all))
    }

    @Test func `the intersection is what both have`() {
        #expect(whole(1, 5).intersection(whole(3, 9)) == whole(3, 5))
        #expect(whole(3, 9).intersection(whole(1, 5)) == whole(3, 5))
        #expect(whole(1, 3).intersection(whole(5, 9)).isEmpty)
        #expect(whole(1, 3).intersection(whole(3, 9)).isEmpty)
        #expect(!whole(1, 3).overlaps(whole(3, 9)) && whole(1, 4).overlaps(whole(3, 9)))
        #expect(MediaTimeRange.all.intersection(whole(1, 2)) == whole(1, 2))
        #expect(whole(1, 2).intersection(.invalid) == .invalid)
    }

    @Test func `the union spans both`() {
        #expect(whole(1, 2).union(whole(5, 9)) == whole(1, 9))
        #expect(whole(1, 2).union(whole(20, 20)) == whole(1, 2))
        #expect(MediaTimeRange.empty.union(whole(5, 9)) == whole(5, 9))
        #expect(whole(1, 2).union(.all) == .all)
    }

    @Test func `a range may last for ever`() {
        let open = MediaTimeRange(start: seconds(3), duration: .positiveInfinity)
        #expect(open.end == .positiveInfinity)
        #expect(open.contains(MediaTime(value: .max, timescale: 1)))
        #expect(!open.contains(seconds(2)))
        #expect(!open.contains(.positiveInfinity))
        #expect(MediaTimeRange.all.contains(seconds(-100)))
        #expect(MediaTimeRange(start: .negativeInfinity, end: .positiveInfinity) == .all)
    }

    @Test func `a range without a duration that makes sense is invalid and empty`() {
        for range in [
            whole(5, 4), MediaTimeRange(start: .invalid, duration: seconds(1)),
            MediaTimeRange(start: .zero, duration: .indefinite), MediaTimeRange(start: .negativeInfinity, end: .zero),
            .invalid,
        ] {
            #expect(!range.isValid)
            #expect(range.isEmpty)
            #expect(!range.contains(.zero))
            #expect(range.end == .invalid)
        }
    }
}
