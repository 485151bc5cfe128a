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

    /// A certificate that an authority of the test's has signed, for etcd and its clients: PEM files in the folder.
    struct TLS {
        let authority: String
        let certificate: String
        let key: String

        init(in folder: TemporaryFolder) async throws {
            (authority, certificate, key) = ("ca.crt", "etcd.crt", "etcd.key")
            // A certificate for etcd's HTTP interface has no common name.
            let extensions = "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n"
            try Data(extensions.utf8).write(to: folder.file("extensions"))
            let new = ["-newkey", "rsa:2048", "-nodes"]
            for arguments in [
                ["req", "-x509"] + new + ["-keyout", "ca.key", "-out", authority, "-days", "2", "-subj", "/CN=ca"],
                ["req"] + new + ["-keyout", key, "-out", "etcd.csr", "-subj", "/O=etcd"],
                ["x509", "-req", "-in", "etcd.csr", "-CA", authority, "-CAkey", "ca.key", "-CAcreateserial"]
                    + ["-out", certificate, "-days", "2", "-extfile", "extensions"],
            ] {
                let child = try ChildProcess(try #require(Programs.installed("openssl")), arguments, in: folder)
                #expect(try await child.end(within: .seconds(30)) == 0, "\(child.errors)")
            }
        }
    }

    private let tls: TLS?

    /// - Parameter tls: With it etcd speaks TLS only, with clients that have a certificate.
    init(in folder: TemporaryFolder, tls: TLS? = nil) async throws {
        let ports = try FreePorts.pairs(1)
        self.tls = tls
        url = "http\(tls == nil ? "" : "s")://127.0.0.1:\(ports[0])"
        let peer = "http://127.0.0.1:\(ports[0] + 1)"
        arguments =
            [
                "--data-dir", folder.file("etcd").path, "--listen-client-urls", url, "--advertise-client-urls", url,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster",
                "default=\(peer)",
                "--log-level", "error",
            ]
            + (tls.map { tls in
                ["--cert-file", tls.certificate, "--key-file", tls.key]
                    + ["--client-cert-auth", "--trusted-ca-file", tls.authority]
            } ?? [])
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

    /// Asks etcd's HTTP interface, with the certificate if there is one. Returns the status and the answer.
    func ask(_ path: String, _ body: String? = nil) async throws -> (status: String, answer: String) {
        let proof = tls.map { ["--cacert", $0.authority, "--cert", $0.certificate, "--key", $0.key] } ?? []
        let curl = try ChildProcess(
            try #require(Programs.installed("curl")),
            ["-s", "-w", "\n%{http_code}"] + proof + (body.map { ["-d", $0] } ?? []) + ["\(url)\(path)"], in: folder)
        _ = try await curl.end(within: .seconds(20))
        let lines = curl.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return (lines.last ?? "", lines.dropLast().joined(separator: "\n"))
    }

    private func waitUntilHealthy() async throws {
        guard tls == nil else {
            try await eventually("etcd is healthy; it wrote: \(child.errors)", within: .seconds(30)) {
                try await ask("/health").status == "200" ? true : nil
            }
            return
        }
        let health = try #require(URL(string: "\(url)/health"))
        try await eventually("etcd is healthy; it wrote: \(child.errors)", within: .seconds(30)) { () -> Bool? in
            guard let (_, response) = try? await URLSession.shared.data(from: health) else { return nil }
            return (response as? HTTPURLResponse)?.statusCode == 200 ? true : nil
        }
    }
}
