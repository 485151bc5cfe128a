import Logging
import RoomMedia
import SecureTransport
import ServiceLifecycle

/// The addresses of the machine while the relay runs.
extension RelayServer {
    /// The time between two looks at the machine's addresses.
    private static let addressInterval = Duration.seconds(1)

    /// Tells the relay which addresses the machine has, so that answers name one that came after the start, and its
    /// cluster where the relay is.
    func followAddresses() async {
        guard let machineAddresses else { return }
        await cancelWhenGracefulShutdown { [driver, cluster, endpoint, logger] in
            var known = machineAddresses
            var own = machineAddresses.first ?? endpoint.address
            while (try? await Task.sleep(for: Self.addressInterval)) != nil {
                let addresses = LocalAddresses.reaching(endpoint.address)
                // Without any, they could not be read.
                guard addresses != known, !addresses.isEmpty else { continue }
                known = addresses
                Self.log(addresses, to: logger)
                await driver.act { relay, _ in relay.setMediaAddresses(addresses) }
                own = LocalAddresses.lasting(own, in: addresses)
                await cluster?.ownURLChanged(to: endpoint.url(at: own))
            }
        }
    }

    static func log(_ mediaAddresses: [TransportAddress], to logger: Logger) {
        logger.info(
            "media addresses",
            metadata: ["addresses": "\(mediaAddresses.map(\.description).joined(separator: " "))"])
    }
}
