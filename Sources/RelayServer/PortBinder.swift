import Foundation
import NIOCore
import NIOPosix
import SecureTransport

/// Finds a port that is free for TCP and UDP and takes it for UDP.
///
/// TCP is only tried: the HTTP server binds it again a moment later. A program that takes the port in between makes the
/// server fail with the system's error instead of ours.
struct PortBinder {
    let host: String
    let eventLoop: any EventLoop
    /// The address of the interface for operators; nil if the port is another.
    var administrationAddress: TransportAddress?

    /// The number of free ports that are tried until one is free for both.
    private static let attempts = 32

    /// Binds the UDP socket.
    func bind(port: UInt16) async throws(StartupError) -> any Channel {
        let address = try await resolve(port: port)
        guard port == 0 else {
            try await tryTCP(address)
            return try await bindUDP(address)
        }
        for _ in 0..<Self.attempts {
            let channel = try await bindUDP(address)
            do throws(StartupError) {
                guard let bound = channel.localAddress else { throw .noFreePort(host: host) }
                try await tryTCP(bound)
                return channel
            } catch {
                try? await channel.close()
                guard case .portInUse = error else { throw error }
            }
        }
        throw .noFreePort(host: host)
    }

    /// Sees whether a TCP port can be listened on.
    func tryTCP(port: UInt16) async throws(StartupError) {
        try await tryTCP(resolve(port: port))
    }

    private func resolve(port: UInt16) async throws(StartupError) -> SocketAddress {
        if let literal = try? SocketAddress(ipAddress: host, port: Int(port)) { return literal }
        let resolved = await withCheckedContinuation { continuation in
            // Resolving blocks; not on a thread that others wait for.
            DispatchQueue.global().async { [host] in
                continuation.resume(returning: try? SocketAddress.makeAddressResolvingHost(host, port: Int(port)))
            }
        }
        guard let resolved else { throw .unknownHost(host) }
        return resolved
    }

    private func bindUDP(_ address: SocketAddress) async throws(StartupError) -> any Channel {
        do {
            return try await MediaSocket.bind(to: address, on: eventLoop)
        } catch {
            throw startupError(error, transport: .udp, port: address.port ?? 0)
        }
    }

    private func tryTCP(_ address: SocketAddress) async throws(StartupError) {
        do {
            let channel = try await ServerBootstrap(group: eventLoop)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(to: address)
                .get()
            try await channel.close()
        } catch {
            throw startupError(error, transport: .tcp, port: address.port ?? 0)
        }
    }

    /// Converts the system's error to one that explains it to the user.
    func startupError(_ error: any Error, transport: StartupError.Transport, port: Int) -> StartupError {
        if let administrationAddress {
            return .administrationAddressNotUsable("\(administrationAddress)", reason: Self.reason(error))
        }
        guard let error = error as? IOError else {
            return .system(transport, host: host, port: port, reason: "\(error)")
        }
        switch error.errnoCode {
        case EADDRINUSE: return .portInUse(transport, host: host, port: port)
        case EADDRNOTAVAIL: return .addressNotAvailable(host)
        case EACCES, EPERM: return .notPermitted(transport, host: host, port: port)
        default: return .system(transport, host: host, port: port, reason: error.description)
        }
    }
}

extension PortBinder {
    /// The reason for which nobody can listen at an address, for people.
    static func reason(_ error: any Error) -> String {
        (error as? IOError).map { reason(code: $0.errnoCode) } ?? "\(error)"
    }

    /// - Parameter code: The system's error number.
    static func reason(code: CInt) -> String {
        switch code {
        case EADDRINUSE: "another program has it"
        case EADDRNOTAVAIL: "it does not belong to this machine"
        case EACCES, EPERM: "this user may not listen there"
        default: String(cString: strerror(code))
        }
    }

    /// Takes the address of the interface for operators.
    init(administrationAt address: TransportAddress, eventLoop: any EventLoop) {
        self.init(host: address.host, eventLoop: eventLoop, administrationAddress: address)
    }
}
