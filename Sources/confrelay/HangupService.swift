import RelayServer
import ServiceLifecycle
import UnixSignals

/// Reads the TLS certificate again, and opens the event log anew, on SIGHUP, as tools ask servers to that have changed
/// the files.
struct HangupService: Service {
    let server: RelayServer

    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { server.reloadFiles() }
    }
}
