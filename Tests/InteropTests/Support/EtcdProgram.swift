import Foundation
import FoundationNetworking
import Glibc
import Testing

/// A running etcd on loopback, with its data in a folder of the test's.
final class EtcdProgram {
    private(set) var child: ChildProcess
    let url: String
    private let arguments: [String]
    private let folder: TemporaryFolder

    static let isInstalled = Programs.areInstalled("etcd")

    init(in folder: TemporaryFolder) async throws {
        let ports = try FreePorts.pairs(1)
        url = "http://127.0.0.1:\(ports[0])"
        let peer = "http://127.0.0.1:\(ports[0] + 1)"
        arguments = [
            "--data-dir", folder.file("etcd").path, "--listen-client-urls", url, "--advertise-client-urls", url,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=\(peer)",
            "--log-level", "error",
        ]
        self.folder = folder
        child = try Self.start(arguments, in: folder)
        try await waitUntilHealthy()
    }

    /// Ends it as a crash does.
    func kill() async throws {
        child.signal(SIGKILL)
        _ = try await child.end(within: .seconds(10))
    }

    /// Starts it again, with the data that it had.
    func restart() async throws {
        child = try Self.start(arguments, in: folder)
        try await waitUntilHealthy()
    }

    private static func start(_ arguments: [String], in folder: TemporaryFolder) throws -> ChildProcess {
        try ChildProcess(try #require(Programs.installed("etcd")), arguments, in: folder)
    }

    private func waitUntilHealthy() async throws {
        let health = try #require(URL(string: "\(url)/health"))
        try await eventually("etcd is healthy; it wrote: \(child.errors)", within: .seconds(30)) { () -> Bool? in
            guard let (_, response) = try? await URLSession.shared.data(from: health) else { return nil }
            return (response as? HTTPURLResponse)?.statusCode == 200 ? true : nil
        }
    }
}
