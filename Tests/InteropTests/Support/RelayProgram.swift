import Foundation
import FoundationNetworking
import Testing

/// A running `confrelay` on loopback.
final class RelayProgram {
    let child: ChildProcess
    let port: UInt16
    private let origin: String

    /// - Parameter port: The port on which it listens; 0 for a port of its choice.
    ///
    /// Overload control is off unless a test asks for it: a debug build beside other tests has too little time, and
    /// most tests look at the behaviour without it.
    init(_ arguments: [String] = [], port: UInt16 = 0, in folder: TemporaryFolder) async throws {
        let overload = arguments.contains("--overload-control") ? [] : ["--overload-control", "off"]
        let child = try ChildProcess(
            Programs.product("confrelay"), ["--port", "\(port)"] + overload + arguments, in: folder)
        self.child = child
        (origin, self.port) = try await eventually("confrelay listens: \(child.errors)", within: .seconds(20)) {
            let match = child.output.firstMatch(of: #/listening: (https?://127\.0\.0\.1:(\d+)) /#)
            return match.flatMap { match in UInt16(match.2).map { (String(match.1), $0) } }
        }
    }

    func url(_ path: String) -> String { "\(origin)\(path)" }

    /// The state of a room, as `docs/http-api.md` describes it; nil when there is none.
    func room(_ id: String) async throws -> RoomState? {
        let url = try #require(URL(string: url("/rooms/\(id)")))
        let (data, response) = try await URLSession.shared.data(from: url)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { return nil }
        return try JSONDecoder().decode(RoomState.self, from: data)
    }

    /// Waits until a participant is there of whom `condition` holds.
    @discardableResult
    func participant(
        _ name: String, in room: String, within limit: Duration = .seconds(30),
        where condition: (RoomState.Participant) -> Bool = { _ in true }
    ) async throws -> RoomState.Participant {
        var last: RoomState.Participant?
        return try await eventually("\(name) as expected in \(room): \(last as Any)", within: limit) {
            last = try await self.room(room)?.participants.first { $0.name == name }
            return last.flatMap { condition($0) ? $0 : nil }
        }
    }
}

/// The part of `GET /rooms/{room}` that the tests look at.
struct RoomState: Decodable {
    struct Participant: Decodable {
        struct Uplink: Decodable {
            var bitRate: Int
            /// The highest rate that the sender is asked to send.
            var maximumBitRate: Int?
            var width: Int
            var height: Int
            var framesReceived: Int
            var framesDecoded: Int
            var audioPackets: Int
        }

        struct Downlink: Decodable {
            var targetBitRate: Int
            var framesEncoded: Int
            var keyframes: Int
        }

        struct ScreenShare: Decodable {
            var framesDecoded: Int
        }

        var name: String
        var role: String
        /// The screen that the participant presents, if any.
        var screenShare: ScreenShare?
        var uplink: Uplink
        var downlink: Downlink
    }

    /// The state of the encoders.
    struct Encoding: Decodable {
        struct Group: Decodable {
            var members: [String]
        }

        var groups: [Group]
        var frames: Int
        var bytes: Int
        var keyframeBytes: Int
    }

    /// The participants that are sent another's own packets.
    struct Forwarding: Decodable {
        var receivers: Int
        var audioReceivers: Int
    }

    var participants: [Participant]
    var encoding: Encoding
    var forwarding: Forwarding
    var ticks: Int
}
