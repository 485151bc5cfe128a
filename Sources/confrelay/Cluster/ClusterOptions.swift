import ArgumentParser
import Cluster
import Foundation
import RelayServer

/// The cluster that the relay belongs to.
struct ClusterOptions: ParsableArguments {
    @OptionGroup var etcd: EtcdOptions

    @Option(
        help: ArgumentHelp(
            "The relay's name in the cluster, unique there: letters, digits, '-', '_' and '.'. (default: host name and "
                + "port)",
            valueName: "name"),
        transform: NodeID.init(option:))
    var nodeID: NodeID?

    @Option(
        help: ArgumentHelp(
            "Where the relay is. Rooms open in the region of the relay that is asked, while it has seats there.",
            valueName: "name"))
    var region = "default"

    @Option(
        help: ArgumentHelp(
            "URL at which clients and other relays reach this relay. (default: its first media address)",
            valueName: "url"),
        transform: Self.advertised)
    var advertise: String?

    @Option(
        help: ArgumentHelp(
            """
            How joins get to the relay that has their room: redirect sends clients there (307), proxy brings the \
            joins there, for clients that do not follow redirections.
            """
        ))
    var joinBy = ClusterSettings.JoinBy.redirect

    @Flag(
        help: ArgumentHelp(
            "Tell Agones by its SDK server whether people are here, and that the relay lives.",
            discussion: "The server's port is in $AGONES_SDK_HTTP_PORT. deploy/agones has a fleet."))
    var agones = false

    func validate() throws {
        guard etcd.cluster.isEmpty else {
            guard (1...64).contains(region.utf8.count) else {
                throw ValidationError("--region must be 1 to 64 bytes long")
            }
            return
        }
        let alone: [(String, Bool)] = [
            ("--node-id", nodeID != nil), ("--region", region != "default"), ("--advertise", advertise != nil),
            ("--join-by", joinBy != .redirect),
        ]
        if let option = alone.first(where: \.1) {
            throw ValidationError("\(option.0) is of use only with --cluster, such as --cluster http://127.0.0.1:2379")
        }
    }

    /// The settings; nil: no cluster.
    func settings(port: UInt16) -> ClusterSettings? {
        guard !etcd.cluster.isEmpty else { return nil }
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        guard let node = nodeID ?? NodeID(rawValue: "\(host)-\(port)") ?? NodeID(rawValue: "relay-\(port)") else {
            return nil
        }
        return ClusterSettings(
            etcd: etcd.settings, node: node, region: region, advertisedURL: advertise, joinBy: joinBy)
    }

    private static func advertised(_ text: String) throws -> String {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = parts.host, !host.isEmpty,
            parts.path.isEmpty || parts.path == "/", parts.query == nil, parts.fragment == nil, parts.user == nil
        else {
            throw ValidationError("'\(text)' is no relay's URL; use one such as http://192.0.2.1:7000")
        }
        return "\(scheme)://\(host)" + (parts.port.map { ":\($0)" } ?? "")
    }
}

/// The options for reaching the cluster's directory.
struct EtcdOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Be one relay of several: URL of the etcd that they share, such as http://127.0.0.1:2379; may be given "
                + "several times.",
            discussion: """
                Each room is on one relay; the others send clients there. Calls go on while etcd is away. Whoever can \
                write to etcd can do everything in the cluster. docs/cluster.md shows three relays on one machine.
                """,
            valueName: "url"),
        transform: EtcdSettings.Endpoint.init(option:))
    var cluster: [EtcdSettings.Endpoint] = []

    @Option(help: ArgumentHelp("User of etcd, if it asks for one.", valueName: "name"))
    var clusterUser: String?

    @Option(help: ArgumentHelp("File with that user's password in its first line.", valueName: "file"))
    var clusterPassword: String?

    @Option(
        help: ArgumentHelp("Certificates (PEM) that etcd's is checked with. (default: the system's)", valueName: "file")
    )
    var clusterCA: String?

    @Option(help: ArgumentHelp("The relay's certificate (PEM) for etcd.", valueName: "file"))
    var clusterCertificate: String?

    @Option(help: ArgumentHelp("The key (PEM) of that certificate.", valueName: "file"))
    var clusterKey: String?

    func validate() throws {
        guard (clusterUser == nil) == (clusterPassword == nil) else {
            throw ValidationError("--cluster-user and --cluster-password belong together")
        }
        guard (clusterCertificate == nil) == (clusterKey == nil) else {
            throw ValidationError("--cluster-certificate and --cluster-key belong together")
        }
        guard !cluster.isEmpty || [clusterUser, clusterCA, clusterCertificate].allSatisfy({ $0 == nil }) else {
            throw ValidationError("the options --cluster-… are of use only with --cluster")
        }
        if let clusterPassword, EtcdSettings.password(in: clusterPassword) == nil {
            throw ValidationError("the file \(clusterPassword) cannot be read, or its first line is empty")
        }
    }

    var settings: EtcdSettings {
        var settings = EtcdSettings(endpoints: cluster)
        settings.user = clusterUser
        settings.passwordFile = clusterPassword
        settings.trustedCertificates = clusterCA
        settings.certificate = clusterCertificate
        settings.key = clusterKey
        return settings
    }
}

extension NodeID {
    /// Parses a name.
    init(option text: String) throws {
        guard let id = NodeID(rawValue: text) else {
            throw ValidationError("'\(text)' is no name of a relay: use 1 to 64 letters, digits, '-', '_' and '.'")
        }
        self = id
    }
}

extension EtcdSettings.Endpoint {
    /// Parses an address.
    init(option text: String) throws {
        guard let endpoint = EtcdSettings.Endpoint(text) else {
            throw ValidationError("'\(text)' is no URL of etcd; use one such as http://127.0.0.1:2379")
        }
        self = endpoint
    }
}
