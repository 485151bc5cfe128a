import Foundation
import FoundationNetworking

/// The part of `GET /rooms/{room}` that the benchmark needs.
struct RoomReading: Decodable, Sendable {
    struct Participant: Decodable, Sendable {
        struct Uplink: Decodable, Sendable {
            var framesReceived: UInt64
            var framesDecoded: UInt64
        }

        struct Downlink: Decodable, Sendable {
            var videoBitRate: Int64
            var framesEncoded: UInt64
            var framesDropped: UInt64
            var keyframes: UInt64
        }

        var uplink: Uplink
        var downlink: Downlink
    }

    struct Forwarding: Decodable, Sendable {
        /// The number of receivers that are sent sources' own packets.
        var receivers: Int
    }

    struct Encoding: Decodable, Sendable {
        struct Group: Decodable, Sendable {}

        var groups: [Group]
        /// The number of frames that the encoders made; a frame to several receivers counts once.
        var frames: UInt64
        var bytes: UInt64
        var keyframeBytes: UInt64
    }

    var participants: [Participant]
    var ticks: UInt64
    var missedTicks: UInt64
    var composedPictures: UInt64
    var lateAudioTicks: UInt64
    var encoding: Encoding
    var forwarding: Forwarding

    static func read(from url: URL) async throws -> RoomReading {
        do {
            let (data, _) = try await URLSession.shared.data(from: url)
            return try JSONDecoder().decode(RoomReading.self, from: data)
        } catch {
            throw BenchmarkError.programFailed(name: "confrelay", reason: "\(url) cannot be read: \(error)")
        }
    }

    /// Waits until a room is there and as it should be, for 20 seconds at most.
    static func wait(
        in url: URL, for expected: String, until isReady: (RoomReading) -> Bool
    ) async throws {
        for _ in 0..<100 {
            try await Task.sleep(for: .milliseconds(200))
            if let reading = try? await read(from: url), isReady(reading) { return }
        }
        throw BenchmarkError.programFailed(name: "confclient", reason: "\(expected) did not come")
    }

    func sum(_ counter: KeyPath<Participant, UInt64>) -> Double {
        participants.reduce(0) { $0 + Double($1[keyPath: counter]) }
    }
}
