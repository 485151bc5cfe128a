public import Cluster

/// The cluster that a relay belongs to.
public struct ClusterSettings: Sendable {
    /// The directory.
    public var etcd: EtcdSettings
    /// The relay's name in the cluster.
    public var node: NodeID
    /// Where the relay is; joins stay in their region while it has seats.
    public var region: String
    /// Where clients and other relays reach it, without a slash at the end; nil: its first media address.
    public var advertisedURL: String?
    /// How joins get to the relay where they belong.
    public var joinBy: JoinBy

    public enum JoinBy: String, CaseIterable, Sendable {
        /// The client is sent there.
        case redirect
        /// The relay that is asked brings the join there.
        case proxy
    }

    public init(
        etcd: EtcdSettings, node: NodeID, region: String = "default", advertisedURL: String? = nil,
        joinBy: JoinBy = .redirect
    ) {
        self.etcd = etcd
        self.node = node
        self.region = region
        self.advertisedURL = advertisedURL
        self.joinBy = joinBy
    }
}
