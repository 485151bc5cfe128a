import Foundation
import MediaCore
import RoomAPI
import Testing

@testable import RoomMedia

/// The states of an output, on virtual time.
@Suite struct OutputLifecycleTests {
    private static let refused = OutputFailure(reason: .refused)
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    private func description(_ lifecycle: OutputLifecycle, now: MonotonicInstant) -> OutputDescription {
        lifecycle.description(id: "o1", name: nil, url: "rtmp://host/…", framesDropped: 7, now: now, date: Self.date)
    }

    @Test("tries come after 1, 2, 4, 8, 16 and then each 30 seconds, less up to a fifth by chance")
    func delays() {
        for random in [0.0, 0.5, 1.0] {
            var delays = ReconnectDelays()
            let waits = (0..<40).map { _ in delays.next(after: .zero, random: random) }
            #expect(Array(waits.prefix(7)) == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) * (1 - random / 5) })
            #expect(waits.last == .seconds(30) * (1 - random / 5))
        }
    }

    @Test("a connection that lasted makes the next wait short, and one that broke at once does not")
    func goodConnection() {
        var delays = ReconnectDelays()
        for _ in 0..<5 { _ = delays.next(after: .zero, random: 0) }
        #expect(delays.next(after: .seconds(9), random: 0) == .seconds(30))
        #expect(delays.next(after: .seconds(10), random: 0) == .seconds(1))
        #expect(delays.next(after: .seconds(1), random: 0) == .seconds(2))
    }

    @Test("everybody is told when it goes live, when it waits and when it ends, and not of each try")
    func news() {
        var lifecycle = OutputLifecycle()
        var now = MonotonicInstant.zero
        var told: [OutputLifecycle.News] = []
        for _ in 0..<5 {
            let (wait, news) = lifecycle.failed(Self.refused, random: 0, now: now)
            if let news { told.append(news) }
            now += wait
            lifecycle.retries()
        }
        #expect(told == [.init(state: .waiting, reason: .refused)])
        #expect(lifecycle.wentLive(now: now) == .init(state: .live, reason: nil))
        #expect(lifecycle.wentLive(now: now) == nil)
        #expect(lifecycle.ended(OutputFailure(reason: .stopped)) == .init(state: .ended, reason: .stopped))
        #expect(lifecycle.ended(OutputFailure(reason: .roomClosed)) == nil)
        #expect(lifecycle.failed(Self.refused, random: 0, now: now).news == nil)
        #expect(lifecycle.state == .ended)
    }

    @Test("it tells why it waits and when it tries again, and adds up what it sent in all connections")
    func figures() {
        var lifecycle = OutputLifecycle()
        #expect(description(lifecycle, now: .zero).state == .connecting)
        _ = lifecycle.wentLive(now: .zero)
        lifecycle.sent(1000)
        lifecycle.sent(5000)
        let lost = OutputFailure(reason: .connectionLost, detail: "gone")
        _ = lifecycle.failed(lost, random: 0, now: .zero + .seconds(20))
        let waiting = description(lifecycle, now: .zero + .seconds(20))
        #expect(waiting.state == .waiting && waiting.reason == .connectionLost && waiting.detail == "gone")
        #expect(waiting.nextTry == "2027-01-15T08:00:01.000Z")
        #expect(waiting.bytes == 5000 && waiting.framesDropped == 7 && waiting.reconnects == 0)
        lifecycle.retries()
        #expect(description(lifecycle, now: .zero + .seconds(21)).nextTry == nil)
        _ = lifecycle.wentLive(now: .zero + .seconds(21))
        lifecycle.sent(300)
        let live = description(lifecycle, now: .zero + .seconds(22))
        #expect(live.state == .live && live.reason == nil && live.bytes == 5300 && live.reconnects == 1)
    }
}
