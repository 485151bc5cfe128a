import Foundation
import Testing

/// The commands in `docs/joining.md`: its fenced blocks, each under the name behind `bash`, and the scripts and
/// programs in `docs/joining`.
struct JoiningDocument {
    private(set) var blocks: [(name: String, text: String)] = []
    /// The Python programs, by the names of their files.
    private(set) var programs: [String: String] = [:]
    private let text: String

    init() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        text = try String(contentsOf: root.appendingPathComponent("docs/joining.md"), encoding: .utf8)
        for match in text.matches(of: #/(?m)^```bash *([^\n]*)\n((?s).*?)^```$/#) {
            blocks.append((String(match.1), String(match.2)))
        }
        let folder = root.appendingPathComponent("docs/joining")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let file = folder.appendingPathComponent(name)
            switch file.pathExtension {
            case "py": programs[name] = try String(contentsOf: file, encoding: .utf8)
            case "sh": blocks.append((String(name.dropLast(3)), try String(contentsOf: file, encoding: .utf8)))
            default: break
            }
        }
    }

    func block(_ name: String) throws -> String {
        try #require(blocks.first { $0.name == name }, "docs/joining.md and its scripts have no '\(name)'").text
    }
}

extension JoiningDocument {
    /// Runs the blocks of a publisher and of a viewer in a network of their own, where the relay listens on an address
    /// other than the loopback interface's. The publisher leaves after the viewer, so that the viewer's last picture
    /// shows the publisher.
    ///
    /// - Parameter time: How long the viewer stays, in seconds.
    static func runApart(
        publisher: String, viewer: String, room: String, time: Int, in folder: TemporaryFolder
    ) async throws {
        let document = try JoiningDocument()
        for (name, text) in document.programs {
            try text.write(to: folder.file(name), atomically: true, encoding: .utf8)
        }
        let setUp = """
            ip link set lo up
            ip link add near type veth peer name far
            ip addr add 198.51.100.1/24 dev near
            ip link set near up && ip link set far up
            confrelay --host 198.51.100.1 > relay.out &
            RUNNING=$!
            until grep -q listening relay.out; do sleep 0.1; done
            """
        let tearDown = """
            kill -INT $PUBLISHER && wait $PUBLISHER
            kill -INT $RUNNING && wait $RUNNING
            """
        let script = folder.file("apart.sh")
        let commands = try [
            setUp, document.block("variables"), "TIME=90", document.block(publisher), "TIME=\(time)",
            document.block(viewer), tearDown,
        ]
        try commands.joined(separator: "\n").write(to: script, atomically: true, encoding: .utf8)
        let child = try ChildProcess(
            #require(Programs.installed("unshare")),
            ["--map-root-user", "--net", "bash", "-eu", "-o", "pipefail", script.path],
            environment: ["PATH": Programs.searchPath, "RELAY": "http://198.51.100.1:7000", "ROOM": room],
            in: folder)
        let code = try await child.end(within: .seconds(90))
        try #require(code == 0, "the commands of docs/joining.md ended with \(code): \(child.errors)")
    }

    /// True if `runApart` can be used for GStreamer's webrtcbin.
    static let canRunWebRTCBin =
        Programs.succeeds("unshare", "--map-root-user", "--net", "ip", "link", "add", "type", "veth")
        && Programs.succeeds("gst-inspect-1.0", "webrtcbin") && Programs.succeeds("gst-inspect-1.0", "nicesrc")
        && Programs.succeeds(
            "bash", "-c", "/usr/bin/python3 -c 'import gi; gi.require_version(\"GstWebRTC\", \"1.0\")'")
}

/// A run of blocks of `docs/joining.md`, one after the other in one shell.
struct JoiningScript {
    let child: ChildProcess
    private let roomFile: URL

    /// - Parameter time: How long the commands stay, in seconds.
    init(_ names: [String], relay: RelayProgram, room: String, time: Int, in folder: TemporaryFolder) throws {
        let document = try JoiningDocument()
        var commands = try (["variables"] + names).map(document.block)
        if names.last == "leave" {
            commands.insert("curl -sS --fail-with-body -o room.json \"$RELAY/rooms/$ROOM\"", at: commands.count - 1)
        }
        roomFile = folder.file("room.json")
        let script = folder.file("joining.sh")
        try commands.joined(separator: "\n").write(to: script, atomically: true, encoding: .utf8)
        let ports = try FreePorts.pairs(2)
        child = try ChildProcess(
            #require(Programs.installed("bash")), ["-eu", "-o", "pipefail", script.path],
            environment: [
                "PATH": Programs.searchPath, "PORT": "\(relay.port)", "ROOM": room, "TIME": "\(time)",
                "VIDEO_PORT": "\(ports[0])", "AUDIO_PORT": "\(ports[1])",
            ],
            in: folder)
    }

    /// The room's state when the commands had run, and nobody had left yet.
    func roomBeforeLeaving() throws -> RoomState {
        try JSONDecoder().decode(RoomState.self, from: Data(contentsOf: roomFile))
    }

    /// Waits for its end, which has to be without an error.
    func finish(within limit: Duration) async throws {
        let code = try await child.end(within: limit)
        try #require(code == 0, "the commands of docs/joining.md ended with \(code): \(child.errors)")
    }
}
