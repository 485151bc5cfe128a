import RelayServer
import ServiceLifecycle
import UnixSignals

/// Reads the TLS certificate and the keys of tokens again on SIGHUP, as certificate tools ask servers to.
struct HangupService: Service {
    let server: RelayServer

    func run() async {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() { await server.reloadFiles() }
    }
}
