/// The reason for which a server could not listen.
public enum StartupError: Error, Equatable, CustomStringConvertible {
    /// One of the two protocols on the port.
    public enum Transport: String, Sendable {
        case tcp = "TCP"
        case udp = "UDP"
    }

    /// The host is neither an address nor a name that resolves.
    case unknownHost(String)
    /// The address is not one of this machine's.
    case addressNotAvailable(String)
    /// Another program listens there.
    case portInUse(Transport, host: String, port: Int)
    /// Streams cannot be taken on the port of an option.
    case streamPortNotUsable(option: String, port: Int, reason: String)
    /// The system does not allow this user to listen there.
    case notPermitted(Transport, host: String, port: Int)
    /// The interface for operators cannot be served at its address.
    case administrationAddressNotUsable(String, reason: String)
    /// The process may not have as many files and sockets open as its connections take.
    case tooFewOpenFiles(limit: Int, needed: Int)
    /// The process may not have the address space that its threads take; in bytes.
    case tooLittleAddressSpace(limit: Int, needed: Int)
    /// No port was free for both protocols.
    case noFreePort(host: String)
    /// Flight recordings cannot be kept there.
    case folderNotUsable(path: String, reason: String)
    /// Recordings of rooms cannot be kept in the folder of an option.
    case recordingsNotUsable(option: String, path: String, reason: String)
    /// Events cannot wait there for webhooks.
    case webhookQueueNotUsable(path: String, reason: String)
    /// The file of events cannot be written to.
    case eventLogNotUsable(path: String, reason: String)
    /// The images that templates and overlays name cannot be read.
    case imagesNotUsable(reason: String)
    /// The file of the TLS certificate is not there or holds none.
    case certificateNotUsable(path: String, reason: String)
    /// The file of the TLS certificate's private key is not there or holds none.
    case keyNotUsable(path: String, reason: String)
    /// The private key is not that of the certificate.
    case keyDoesNotFit(key: String, certificate: String)
    /// The device that is to encode is not there, or encodes nothing.
    case hardwareNotUsable(reason: String)
    /// The file of the keys that tokens are signed with is not there or holds none.
    case accessKeysNotUsable(path: String, reason: String)
    /// The files of the connection to the cluster's directory cannot be used.
    case clusterNotUsable(reason: String)
    /// The certificate for media could not be made.
    case secureTransport(reason: String)
    /// Another error of the system.
    case system(Transport, host: String, port: Int, reason: String)

    public var description: String {
        switch self {
        case .unknownHost(let host):
            "the host '\(host)' cannot be resolved: give --host an IP address of this machine"
        case .addressNotAvailable(let host):
            "the address \(host) does not belong to this machine: give --host one of its addresses, or 0.0.0.0 for all"
        case .portInUse(let transport, let host, let port):
            "\(transport.rawValue) port \(port) on \(host) is in use: stop the program that has it, or choose another "
                + "with --port (0 picks a free one)"
        case .streamPortNotUsable(let option, let port, let reason):
            "streams cannot be taken on port \(port): \(reason); choose another with \(option)"
        case .notPermitted(let transport, let host, let port):
            "listening on \(transport.rawValue) port \(port) on \(host) is not permitted: choose a port above 1023 "
                + "with --port"
        case .administrationAddressNotUsable(let address, let reason):
            "figures cannot be served at \(address): \(reason); choose another with --admin-address"
        case .tooFewOpenFiles(let limit, let needed):
            "the relay may have \(limit) files open at once and needs \(needed) for its connections: raise the limit "
                + "(ulimit -n, or LimitNOFILE= of the service), or give a smaller --max-connections"
        case .tooLittleAddressSpace(let limit, let needed):
            "the relay may use \(limit >> 20) MiB of address space and needs \(needed >> 20) MiB: raise the limit "
                + "(ulimit -v, or LimitAS= of the service), or give fewer --workers; MemoryMax= of a service limits "
                + "memory itself"
        case .noFreePort(let host):
            "no port on \(host) is free for both TCP and UDP: choose one with --port"
        case .folderNotUsable(let path, let reason):
            "flight recordings cannot be kept in \(path): \(reason); give --flight-recorder a folder that this user "
                + "can write to"
        case .recordingsNotUsable(let option, let path, let reason):
            "recordings cannot be kept in \(path): \(reason); give \(option) a folder that this user can write to"
        case .webhookQueueNotUsable(let path, let reason):
            "events cannot wait for webhooks in \(path): \(reason); give --webhook-queue a folder of this relay's own "
                + "that this user can write to"
        case .eventLogNotUsable(let path, let reason):
            "events cannot be written to \(path): \(reason); give --event-log a file that this user can write to"
        case .imagesNotUsable(let reason):
            "\(reason); give --images a folder of PNG files"
        case .certificateNotUsable(let path, let reason):
            "the TLS certificate \(path) cannot be used: \(reason); give --tls-certificate a PEM file"
        case .keyNotUsable(let path, let reason):
            "the TLS key \(path) cannot be used: \(reason); give --tls-key a PEM file"
        case .keyDoesNotFit(let key, let certificate):
            "the TLS key \(key) does not fit the certificate \(certificate): give --tls-key the key that "
                + "the certificate was made for, and put the certificate itself first in its file"
        case .hardwareNotUsable(let reason):
            "no device does what --codec, --vaapi-decode and --vaapi-compose ask for: \(reason); name one with "
                + "--vaapi-device, or leave them out"
        case .accessKeysNotUsable(let path, let reason):
            "the keys of tokens in \(path) cannot be used: \(reason); give --auth-keys a file as confrelay key makes "
                + "it"
        case .clusterNotUsable(let reason):
            "\(reason); see --cluster-ca, --cluster-certificate and --cluster-key"
        case .secureTransport(let reason):
            "no certificate for encrypted media can be made: \(reason)"
        case .system(let transport, let host, let port, let reason):
            "cannot listen on \(transport.rawValue) port \(port) on \(host): \(reason)"
        }
    }
}
