import Hummingbird
import NIOCore
import SecureTransport

/// The context of a request: the client's address.
struct SignallingContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other end of the connection.
    let peer: TransportAddress?

    init(source: ApplicationRequestContextSource) {
        self.init(source: source, peer: source.channel.remoteAddress.flatMap { TransportAddress($0) })
    }

    init(source: some RequestContextSource, peer: TransportAddress?) {
        coreContext = .init(source: source)
        self.peer = peer
    }
}
