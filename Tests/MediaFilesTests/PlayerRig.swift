import MediaCore
import Synchronization
import VideoCoding

@testable import MediaFiles

/// A player on a virtual clock, and its notifications.
final class PlayerRig: Sendable {
    let clock = VirtualMediaClock()
    let timebase: Timebase
    let player: SampleBufferPlayer
    private let log = Log()

    private final class Log: Sendable {
        let entries = Mutex<[Entry]>([])
    }

    struct Entry: Sendable {
        /// The timebase's time when the event was told.
        var time: MediaTime
        var event: SampleBufferPlayer.Event
    }

    init(_ configuration: SampleBufferPlayer.Configuration = .init()) {
        let timebase = Timebase(clock: clock)
        self.timebase = timebase
        player = SampleBufferPlayer(timebase: timebase, configuration: configuration) { [log] event in
            let time = timebase.time
            log.entries.withLock { $0.append(Entry(time: time, event: event)) }
        }
    }

    var entries: [Entry] { log.entries.withLock { $0 } }

    /// The pictures shown.
    var pictures: [DecodedPicture] {
        entries.compactMap { if case .picture(let picture) = $0.event { picture } else { nil } }
    }

    /// The numbers of the pictures shown, at 30 a second.
    var numbers: [Int64] { pictures.map { $0.presentationTime.converted(toTimescale: 30).value } }

    /// True if each picture was shown at its own time exactly.
    var isPunctual: Bool {
        entries.allSatisfy { entry in
            guard case .picture(let picture) = entry.event else { return true }
            // Times of the clock are rounded up to a nanosecond.
            return (entry.time - picture.presentationTime).duration <= .nanoseconds(1)
        }
    }

    var endTime: MediaTime? {
        entries.compactMap { if case .ended = $0.event { $0.time } else { nil } }.first
    }

    var endCount: Int { entries.count { if case .ended = $0.event { true } else { false } } }

    var errorCount: Int { entries.count { if case .failed = $0.event { true } else { false } } }

    /// Runs everything that is due, and advances time by `frames` thirtieths of a second.
    func advance(frames: Int = 0) {
        let time = MediaTime(value: Int64(frames), timescale: 30)
        clock.advance(by: time.converted(toTimescale: 1_000_000_000, rounding: .up).duration)
    }
}

/// Gives samples to a player while it is ready.
final class SampleFeed: Sendable {
    private struct State {
        var samples: ArraySlice<SampleBuffer>
        var callCount = 0
        var mostWaiting = (samples: 0, pictures: 0)
    }

    private let state: Mutex<State>

    init(_ samples: [SampleBuffer]) {
        state = Mutex(State(samples: samples[...]))
    }

    var callCount: Int { state.withLock { $0.callCount } }
    var mostWaiting: (samples: Int, pictures: Int) { state.withLock { $0.mostWaiting } }

    func give(to player: SampleBufferPlayer) {
        state.withLock { $0.callCount += 1 }
        while player.isReadyForMoreMediaData {
            guard let sample = state.withLock({ $0.samples.popFirst() }) else {
                player.endOfMedia()
                return
            }
            player.enqueue(sample)
            let statistics = player.statistics
            state.withLock { state in
                state.mostWaiting.samples = max(state.mostWaiting.samples, statistics.waitingSamples)
                state.mostWaiting.pictures = max(state.mostWaiting.pictures, statistics.waitingPictures)
            }
        }
    }
}

/// The time of frame `number` at 30 frames a second.
func frameTime(_ number: Int) -> MediaTime { MediaTime(value: Int64(number) * 3000, timescale: 90_000) }
