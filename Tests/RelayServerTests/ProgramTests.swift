import ChildProcesses
import Foundation
import Glibc
import NIOCore
import SecureTransport
import Testing

@testable import RelayServer

/// The program as users meet it: its output, its sockets, its signals and its exit codes.
@Suite("The program confrelay")
struct ProgramTests {
    /// A running `confrelay`, which is killed when the test lets go of it.
    private final class Program {
        let process: SpawnedProcess
        private let output = Pipe()
        private let errors = Pipe()

        /// - Parameters:
        ///   - outputTarget: Where standard output goes instead of to `firstLine` and `allOutput`.
        ///   - errorTarget: Where standard error goes instead of to `firstError` and `end`.
        init(
            _ arguments: [String], output outputTarget: FileHandle? = nil, errors errorTarget: FileHandle? = nil
        ) throws {
            // The test bundle lies beside the products that it was built with.
            let products = Bundle.allBundles.map(\.bundleURL).map { $0.deletingLastPathComponent() }
            let own = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            let program = try #require(
                ([own] + products).map { $0.appendingPathComponent("confrelay") }
                    .first { FileManager.default.isExecutableFile(atPath: $0.path) })
            process = try SpawnedProcess(
                program.path, arguments, output: (outputTarget ?? output.fileHandleForWriting).fileDescriptor,
                errors: (errorTarget ?? errors.fileHandleForWriting).fileDescriptor)
            // So that reading ends with the program.
            try output.fileHandleForWriting.close()
            try errors.fileHandleForWriting.close()
        }

        deinit {
            // A test that fails halfway leaves no relay behind.
            process.signal(SIGKILL)
            process.wait()
        }

        /// The first line on standard output.
        func firstLine() -> String { Self.line(of: output) }

        /// The next line on standard error.
        func firstError() -> String { Self.line(of: errors) }

        private static func line(of pipe: Pipe) -> String {
            var line = Data()
            while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), byte.first != 0x0A, !byte.isEmpty {
                line += byte
            }
            return String(decoding: line, as: UTF8.self)
        }

        /// All of standard output, once it has ended.
        func allOutput() -> String {
            String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }

        /// Waits for the end; returns the exit code and the text on standard error.
        func end() -> (code: Int32, errors: String) {
            let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let ending = withExtendedLifetime(self) { process.wait() }
            return if case .exit(let code) = ending { (code, text) } else { (-1, text) }
        }
    }

    private func port(in line: String) throws -> UInt16 {
        let match = try #require(
            line.wholeMatch(
                of: #/confrelay 0\.1 listening: http://127\.0\.0\.1:(\d+) \(signalling\), udp (\d+) \(media\)/#))
        #expect(match.1 == match.2)
        return try #require(UInt16(match.1))
    }

    @Test("it says where it listens, serves there, and ends with 0 on a signal", arguments: [SIGTERM, SIGINT])
    func serving(signal: Int32) throws {
        let program = try Program(["--port", "0", "--overload-control", "off"])
        let port = try port(in: program.firstLine())
        let answer = try HTTPConnection(port: port).exchange(
            "GET /readyz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.contains(#""ready":true"#))
        program.process.signal(signal)
        let (code, errors) = program.end()
        #expect(code == 0)
        #expect(errors == "")
    }

    @Test("a relay without files to read again goes on after SIGHUP")
    func hangup() throws {
        let program = try Program(["--port", "0", "--overload-control", "off"])
        let port = try port(in: program.firstLine())
        program.process.signal(SIGHUP)
        let answer = try HTTPConnection(port: port).exchange(
            "GET /readyz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        program.process.signal(SIGHUP)
        program.process.signal(SIGTERM)
        #expect(program.end().code == 0)
    }

    @Test(
        "a log that cannot be written, on a full disk or to a reader that is gone, ends no calls",
        arguments: ["json", "text"], ["full", "gone"])
    func brokenLog(format: String, target: String) throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let gone = Pipe()
        try gone.fileHandleForReading.close()
        let program = try Program(
            [
                "--port", "0", "--overload-control", "off", "--drain", "1h", "--log-level", "debug", "--log-format",
                format,
            ], errors: target == "full" ? full : gone.fileHandleForWriting)
        let port = try port(in: program.firstLine())
        let answer = try HTTPConnection(port: port).exchange(
            "GET /readyz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        // It logs that it drains.
        program.process.signal(SIGTERM)
        #expect(program.end().code == 0)
    }

    @Test(
        "a command whose result cannot be written says so, with exit code 73",
        arguments: [["key"], ["config", "print"]])
    func brokenOutput(arguments: [String]) throws {
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let (code, errors) = try Program(arguments, output: full).end()
        #expect(code == 73)
        #expect(errors == "confrelay: cannot write standard output: the disk is full\n")
    }

    @Test("with nobody there it does not wait for calls to end")
    func drainingNobody() throws {
        let program = try Program(["--port", "0", "--overload-control", "off", "--drain", "1h"])
        _ = try port(in: program.firstLine())
        program.process.signal(SIGTERM)
        let (code, errors) = program.end()
        #expect(code == 0)
        #expect(errors.contains("drained: all rooms are empty"))
    }

    @Test("a wrong file of options is one line for each mistake, and exit code 78")
    func wrongOptionFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-\(UUID().uuidString).yaml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("prot: 1\nhots: 2\n".utf8).write(to: URL(fileURLWithPath: path))
        for arguments in [["--config", path], ["config", "check", path], ["config", "print", "--json", path]] {
            let (code, errors) = try Program(arguments).end()
            #expect(code == 78)
            #expect(errors.contains("did you mean 'port'?") && errors.contains("did you mean 'host'?"))
            #expect(errors.filter(\.isNewline).count == 2)
        }
        let texts = [
            "tls-certificate: none.crt\ntls-key: none.key\n", "auth-keys: none.json\n",
            "cluster: https://127.0.0.1:1\ncluster-ca: none.crt\n",
        ]
        for text in texts {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(try Program(["config", "check", path]).end().code == 66)
        }
        for option in ["recordings", "record-all", "flight-recorder", "event-log"] {
            try Data("\(option): /dev/null/none\n".utf8).write(to: URL(fileURLWithPath: path))
            let (code, errors) = try Program(["config", "check", path]).end()
            #expect(code == 73)
            #expect(errors.contains(": it cannot be written to: Not a directory;") && errors.contains("--\(option)"))
        }
        try Data("port: 0\n".utf8).write(to: URL(fileURLWithPath: path))
        let check = try Program(["config", "check", path, "--frame-rate", "15"])
        #expect(check.allOutput() == "\(path): fine, sets 2 options\n")
        #expect(check.end().code == 0)
        let single = try Program(["config", "check", path])
        #expect(single.allOutput() == "\(path): fine, sets 1 option\n")
        #expect(single.end().code == 0)
    }

    @Test("a request that hangs does not keep it from ending")
    func hangingRequest() throws {
        let program = try Program(["--port", "0", "--overload-control", "off"])
        let port = try port(in: program.firstLine())
        let idle = try HTTPConnection(port: port)
        let hanging = try HTTPConnection(port: port)
        hanging.write(
            "POST /rooms/demo/participants HTTP/1.1\r\nHost: relay\r\nContent-Type: application/sdp\r\n"
                + "Content-Length: 100\r\n\r\nv=0"
        )
        _ = try HTTPConnection(port: port).exchange("GET /healthz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        program.process.signal(SIGTERM)
        let (code, errors) = program.end()
        #expect(code == 0)
        #expect(errors == "")
        withExtendedLifetime((idle, hanging)) {}
    }

    @Test("a second signal does not wait for the end that a first one has begun")
    func secondSignal() throws {
        // The end waits for ever for a place in the log, where it says that it drains.
        let log = Pipe()
        let descriptor = log.fileHandleForWriting.fileDescriptor
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        while write(descriptor, "-", 1) == 1 {}
        _ = fcntl(descriptor, F_SETFL, flags)
        let program = try Program(
            ["--port", "0", "--overload-control", "off", "--drain", "1h"], errors: log.fileHandleForWriting)
        _ = try port(in: program.firstLine())
        // Several that come before the first is taken count as one.
        while program.process.isRunning { program.process.signal(SIGTERM) }
        #expect(program.end().code == 128 + SIGTERM)
        withExtendedLifetime(log) {}
    }

    @Test("it measures the machine at the start, says in its log how many fit, and answers meanwhile")
    func calibration() throws {
        let program = try Program(["--port", "0", "--canvas", "320x180"])
        let port = try port(in: program.firstLine())
        let answer = try HTTPConnection(port: port).exchange(
            "GET /readyz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        #expect(answer.contains(#""level":"normal""#))
        let line = program.firstError()
        #expect(line.contains(" calibrated: "))
        #expect(line.contains(" seats "))
        let later = try HTTPConnection(port: port).exchange(
            "GET /readyz HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\r\n")
        #expect(later.contains(#""seatsLeft":"#))
        program.process.signal(SIGTERM)
        #expect(program.end().code == 0)
    }

    @Test("confrelay calibrate prints the machine's costs, as a table and as JSON")
    func calibrate() throws {
        let options = ["calibrate", "--seconds", "1", "--canvas", "320x180"]
        let table = try Program(options)
        #expect(table.firstLine().contains("of a core"))
        #expect(table.end().code == 0)
        let json = try Program(options + ["--json"])
        let text = json.allOutput()
        #expect(json.end().code == 0)
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let seats = try #require(document?["seats"] as? [String: Int])
        #expect(try #require(seats["cheapest"]) >= #require(seats["dedicated"]))
        #expect(try Program(["calibrate", "--seconds", "0"]).end().code == 64)
        let report = try Program(["calibrate", "--report", "/"]).end()
        #expect(report.code == 73)
        #expect(report.errors == "confrelay: the report cannot be written to /: Is a directory; name another file\n")
    }

    @Test("a port in use, by TCP or by UDP, is one line and exit code 69")
    func portInUse() throws {
        let first = try Program(["--port", "0", "--overload-control", "off"])
        let port = try port(in: first.firstLine())
        let second = try Program(["--port", "\(port)"]).end()
        #expect(second.code == 69)
        #expect(second.errors.hasPrefix("confrelay: TCP port \(port) on 127.0.0.1 is in use"))
        #expect(second.errors.filter(\.isNewline).count == 1)
        first.process.signal(SIGTERM)
        #expect(first.end().code == 0)

        let peer = try UDPPeer()
        let third = try Program(["--port", "\(peer.address.port)"]).end()
        #expect(third.code == 69)
        #expect(third.errors.contains("port \(peer.address.port) on 127.0.0.1 is in use"))
    }

    @Test(
        "an address that is not this machine's is one line and exit code 69",
        arguments: ["192.0.2.1", "no-such-host.invalid"])
    func unusableAddress(host: String) throws {
        let (code, errors) = try Program(["--port", "0", "--host", host]).end()
        #expect(code == 69)
        #expect(errors.contains(host) && errors.filter(\.isNewline).count == 1)
    }

    @Test("a certificate that is not there is one line and exit code 66")
    func missingCertificate() throws {
        let (code, errors) = try Program(["--port", "0", "--tls-certificate", "none.crt", "--tls-key", "none.key"])
            .end()
        #expect(code == 66)
        #expect(
            errors == "confrelay: the TLS certificate none.crt cannot be used: there is no such file; "
                + "give --tls-certificate a PEM file\n")
    }

    @Test(
        "a folder of recordings that cannot be made is one line that names its option, and exit code 73",
        arguments: ["--recordings", "--record-all"])
    func unusableFolder(option: String) throws {
        let (code, errors) = try Program(["--port", "0", option, "/proc/none"]).end()
        #expect(code == 73)
        #expect(
            errors == "confrelay: recordings cannot be kept in /proc/none: it cannot be made: No such file or "
                + "directory; give \(option) a folder that this user can write to\n")
    }

    @Test(
        "a wrong option is one line and exit code 64",
        arguments: [["--bogus"], ["--port", "x"], ["--canvas", "1x1"], ["extra"]])
    func wrongOption(arguments: [String]) throws {
        let (code, errors) = try Program(arguments).end()
        #expect(code == 64)
        #expect(errors.hasPrefix("confrelay: ") && errors.filter(\.isNewline).count == 1)
    }

    @Test("a wrong option of a command names that command's help, and a command with nothing to do shows it")
    func helpOfCommand() throws {
        let (code, errors) = try Program(["token", "--room", "demo"]).end()
        #expect(code == 64)
        #expect(errors.hasSuffix(" (see confrelay token --help)\n"))
        #expect(
            try Program(["config", "print", "--bogus"]).end().errors.hasSuffix(" (see confrelay config print --help)\n")
        )
        let cluster = try Program(["cluster"])
        #expect(cluster.firstLine() == "OVERVIEW: Look at a cluster of relays.")
        #expect(cluster.end().code == 0)
    }

    @Test("bytes that are not HTTP get 400 and a closed connection")
    func notHTTP() throws {
        let program = try Program(["--port", "0", "--overload-control", "off"])
        let port = try port(in: program.firstLine())
        #expect(try HTTPConnection(port: port).exchange("\u{16}\u{3}\u{1}garbage\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
        let large = "GET / HTTP/1.1\r\nHost: relay\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n"
        #expect(try !HTTPConnection(port: port).exchange(large).hasPrefix("HTTP/1.1 200 "))
        program.process.signal(SIGTERM)
        #expect(program.end().code == 0)
    }
}

/// A TCP connection to loopback that exchanges text.
private final class HTTPConnection {
    private let descriptor: CInt

    init(port: UInt16) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        let isConnected = try SocketAddress(ipAddress: "127.0.0.1", port: Int(port)).withSockAddr { name, size in
            connect(descriptor, name, socklen_t(size)) == 0
        }
        try #require(isConnected)
    }

    deinit {
        close(descriptor)
    }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
    }

    /// Writes a text and reads until the other end closes.
    func exchange(_ text: String) -> String {
        write(text)
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
            answer += buffer.prefix(count)
        }
    }
}
