import SecureTransport

extension RelayServer {
    /// The addresses of a server, with TCP for signalling and with UDP for media.
    public struct Endpoint: Sendable, CustomStringConvertible {
        /// The address and port of both sockets.
        let address: TransportAddress
        /// True if signalling uses HTTPS.
        let isEncrypted: Bool

        /// The number of both ports.
        public var port: UInt16 { address.port }

        /// The URL of signalling at an address of the machine.
        func url(at address: TransportAddress) -> String { "\(isEncrypted ? "https" : "http")://\(address)" }

        /// The line that tells people and scripts both addresses.
        public var description: String {
            "confrelay \(RelayVersion.current) listening: \(url(at: address)) (signalling), "
                + "udp \(address.port) (media)"
        }
    }

    /// The reason for which a running server stopped.
    public enum ServiceError: Error, CustomStringConvertible {
        /// The system closed the media socket.
        case mediaSocketFailed

        public var description: String {
            switch self {
            case .mediaSocketFailed: "the media socket failed and was closed by the system"
            }
        }
    }
}
