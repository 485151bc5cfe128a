import Hummingbird
import NIOCore
import SecureTransport

/// What a request handler knows beside the request: who asks.
struct SignallingContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other end of the connection.
    let peer: TransportAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress.flatMap { TransportAddress($0) }
    }
}
