import Hummingbird
import NIOCore
import RoomMedia
import SecureTransport

/// The context of a request: the client's address.
struct SignallingContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The other end of the connection.
    let peer: TransportAddress?
    /// The client, by the address that counts; nil if a proxy does not state it.
    var client: TransportAddress?
    /// The caller, by its proof, with its permissions.
    var caller = Caller.anonymous
    /// True if a page of another site asks.
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
