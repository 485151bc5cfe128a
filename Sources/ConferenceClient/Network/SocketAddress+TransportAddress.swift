import NIOCore
import SecureTransport

extension TransportAddress {
    /// The address of a socket; nil for a Unix domain socket.
    init?(_ address: SocketAddress) {
        guard let host = address.ipAddress, let port = address.port.flatMap(UInt16.init(exactly:)) else { return nil }
        self.init(host: host, port: port)
    }

    /// The address for a socket; nil if the system does not take it.
    var socketAddress: SocketAddress? {
        try? SocketAddress(ipAddress: host, port: Int(port))
    }
}
