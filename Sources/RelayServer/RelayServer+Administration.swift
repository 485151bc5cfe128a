import Logging
import SecureTransport

/// The interface for operators.
extension RelayServer {
    /// Serves the interface for operators at an address of its own, and calls `onRunning` when that address is served.
    func administer(
        _ router: SignallingRouter, at address: TransportAddress, binder: PortBinder,
        onRunning: @escaping @Sendable () -> Void
    ) async throws {
        let connections = ConnectionRegister(
            ConnectionAdmission(
                maximum: SignallingLimits.administrationConnections, reserve: SignallingLimits.reservedConnections))
        let application = makeApplication(
            router.makeAdministrationRouter(), address: address, connections: connections,
            onRunning: { [logger] in
                defer { onRunning() }
                logger.notice("administration is served at \(address)")
                guard !address.isLoopback else { return }
                logger.warning(
                    """
                    everybody who reaches \(address) can read names of rooms and people, debug views and recordings, \
                    and drain the relay, without a token; give --admin-address an address of loopback, or keep \
                    others from it by a firewall
                    """)
            })
        try await run(application, port: address.port, binder: binder)
    }
}
