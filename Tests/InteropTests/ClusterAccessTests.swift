import Foundation
import Testing

/// A relay whose etcd speaks TLS with those alone who have a certificate, and asks for a password.
@Suite("A cluster's etcd", .enabled(if: EtcdProgram.isInstalled, "needs etcd (Debian: etcd-server)"))
struct ClusterAccessTests {
    @Test("takes relays by certificate, user and password, and no others")
    func access() async throws {
        let folder = try TemporaryFolder()
        let tls = try await EtcdProgram.TLS(in: folder)
        let etcd = try await EtcdProgram(in: folder, tls: tls)
        let (begin, end) = (
            Data("/confrelay/".utf8).base64EncodedString(), Data("/confrelay0".utf8).base64EncodedString()
        )
        for (path, body) in [
            ("role/add", #"{"name":"root"}"#), ("user/add", #"{"name":"root","password":"all"}"#),
            ("user/grant", #"{"user":"root","role":"root"}"#), ("role/add", #"{"name":"relay"}"#),
            (
                "role/grant",
                #"{"name":"relay","perm":{"permType":"READWRITE","key":"\#(begin)","range_end":"\#(end)"}}"#
            ),
            ("user/add", #"{"name":"relay","password":"secret"}"#),
            ("user/grant", #"{"user":"relay","role":"relay"}"#), ("enable", "{}"),
        ] {
            let answer = try await etcd.ask("/v3/auth/\(path)", body)
            #expect(answer.status == "200", "\(path): \(answer.answer)")
        }
        try Data("secret\n".utf8).write(to: folder.file("password"))
        try Data("guess\n".utf8).write(to: folder.file("wrong"))
        let files = ["--cluster-ca", tls.authority, "--cluster-certificate", tls.certificate, "--cluster-key", tls.key]
        func options(_ password: String) -> [String] {
            ["--cluster", etcd.url] + files + ["--cluster-user", "relay", "--cluster-password", password]
        }
        func status(_ options: [String]) async throws -> (code: Int32, output: String, errors: String) {
            let command = try ChildProcess(
                Programs.product("confrelay"), ["cluster", "status"] + options, in: folder)
            return (try await command.end(within: .seconds(20)), command.output, command.errors)
        }
        let relay = try await RelayProgram(["--node-id", "a"] + options("password"), in: folder)
        try await eventually("the relay is in the directory; it wrote: \(relay.child.errors)", within: .seconds(20)) {
            try await status(options("password")).output.contains("a      serving") ? true : nil
        }
        let guess = try await status(options("wrong"))
        #expect(guess.code == 69 && guess.errors.contains("invalid user ID or password"), "\(guess)")
        let stranger = try await status(["--cluster", etcd.url, "--cluster-ca", tls.authority])
        #expect(stranger.code == 69 && stranger.errors.contains("etcd does not answer"), "\(stranger)")
    }
}
