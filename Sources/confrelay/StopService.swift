import RelayServer
import ServiceLifecycle
import UnixSignals

/// Ends the relay on SIGTERM or SIGINT: at once, or after its calls, for which a second signal does not wait.
struct StopService: Service {
    let server: RelayServer
    /// SIGTERM and SIGINT.
    let signals: UnixSignalsSequence
    /// The time for which calls may go on.
    let drain: Duration

    private enum Event {
        case signal, drained
    }

    /// Returns when the relay is to end.
    func run() async {
        let signals = signals.cancelOnGracefulShutdown()
        let (events, news) = AsyncStream.makeStream(of: Event.self)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in signals { news.yield(.signal) }
                news.finish()
            }
            var isDraining = false
            for await event in events {
                guard event == .signal, !isDraining, drain > .zero else { break }
                isDraining = true
                group.addTask {
                    await server.drain(upTo: drain)
                    news.yield(.drained)
                }
            }
            group.cancelAll()
        }
    }
}
