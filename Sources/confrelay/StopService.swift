import Foundation
import RelayServer
import ServiceLifecycle
import UnixSignals

/// Ends the relay on SIGTERM or SIGINT: in order, after its calls. A second signal does not wait for the calls, and one
/// that comes once the end has begun waits for nothing.
struct StopService: Service {
    let server: RelayServer
    /// SIGTERM and SIGINT.
    let signals: UnixSignalsSequence
    /// The time for which calls may go on.
    let drain: Duration

    /// A signal so soon after the one that begins the end is the same wish: timeout(1) signals the program, and then
    /// its group with the program.
    private static let repetition = Duration.milliseconds(500)

    private enum Event {
        case signal, drained
    }

    /// Returns when the relay is to end.
    func run() async {
        let (events, news) = AsyncStream.makeStream(of: Event.self)
        // It listens until the process is gone: the rest of the end may hang, for instance at a disk.
        Task { [signals] in
            var last: ContinuousClock.Instant?
            for await signal in signals {
                let now = ContinuousClock.now
                guard case .terminated = news.yield(.signal) else {
                    last = now
                    continue
                }
                if let last, now - last < Self.repetition { continue }
                // As shells have it of a program that the signal ended.
                _exit(128 + signal.rawValue)
            }
        }
        await withDiscardingTaskGroup { group in
            var isDraining = false
            for await event in events.cancelOnGracefulShutdown() {
                guard event == .signal, !isDraining, drain > .zero else { break }
                isDraining = true
                group.addTask {
                    await server.drain(upTo: drain)
                    news.yield(.drained)
                }
            }
            news.finish()
            group.cancelAll()
        }
    }
}
