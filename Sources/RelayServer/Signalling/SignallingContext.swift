import Hummingbird
import NIOCore
import SecureTransport

/// The context of a request: the client's address.
struct SignallingContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other end of the connection.
    let peer: TransportAddress?
    /// Who asks, by the address that counts; nil where a proxy does not tell.
    var client: TransportAddress?
    /// Who asks, by what they prove, and what they may do.
    var caller = Caller.anonymous
    /// Whether a page of another site asks.
    var isFromOtherSite = false

    init(source: ApplicationRequestContextSource) {
        self.init(source: source, peer: source.channel.remoteAddress.flatMap { TransportAddress($0) })
    }

    init(source: some RequestContextSource, peer: TransportAddress?) {
        coreContext = .init(source: source)
        self.peer = peer
    }

    /// By what quotas are counted; nil where the client is not known.
    var quotaSubject: RequestQuotas.Subject? { client.map { .network(ClientNetwork($0)) } }
}
