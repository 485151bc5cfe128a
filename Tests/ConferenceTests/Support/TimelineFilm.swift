import MediaCore

@testable import Conference

/// A timeline with one camera, whose frames are counted as they would be.
final class TimelineFilm {
    /// The time from a tick to the next.
    static let frame = Duration.nanoseconds(33_333_333)

    let timeline = RoomTimeline()
    var now = MonotonicInstant(nanoseconds: 5_000_000_000)
    var reading = SourceReading(dimensions: VideoDimensions(width: 640, height: 360))
    var index: Int64 = 0
    var missed: UInt64 = 0

    /// Runs ticks for `duration`; at each, `change` can change the camera's reading.
    func run(_ duration: Duration, _ change: (inout SourceReading, MonotonicInstant) -> Void = TimelineFilm.play) {
        let end = now + duration
        while now < end {
            change(&reading, now)
            timeline.tick(index: index, missedTicks: missed, now: now)
            timeline.observe(reading, of: .camera(1), now: now) { ("p1", "Ben") }
            index += 1
            now += Self.frame
        }
    }

    static func play(_ reading: inout SourceReading, _ now: MonotonicInstant) {
        reading.framesArrived += 1
        reading.framesDecoded += 1
        reading.pictureTime = now
    }

    func snapshot() -> RoomTimelineSnapshot {
        timeline.snapshot(room: "demo", tickInterval: Self.frame, now: now) { "\($0)" }
    }

    var source: RoomTimelineSnapshot.Source? { snapshot().sources.first }
}

extension Sequence<UInt16> {
    var total: Int { reduce(0) { $0 + Int($1) } }
}
