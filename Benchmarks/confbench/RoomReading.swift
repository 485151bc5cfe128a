import Foundation
import FoundationNetworking

/// What `GET /rooms/{room}` says, as far as the benchmark needs it.
struct RoomReading: Decodable, Sendable {
    struct Participant: Decodable, Sendable {
        struct Uplink: Decodable, Sendable {
            var framesReceived: UInt64
            var framesDecoded: UInt64
        }

        struct Downlink: Decodable, Sendable {
            var targetBitRate: Int64
            var videoBitRate: Int64
            var width: Int
            var height: Int
            var framesEncoded: UInt64
            var framesDropped: UInt64
            var keyFrames: UInt64
        }

        var uplink: Uplink
        var downlink: Downlink
    }

    var participants: [Participant]
    var ticks: UInt64
    var missedTicks: UInt64
    var composedPictures: UInt64
    var lateAudioTicks: UInt64

    static func read(from url: URL) async throws -> RoomReading {
        do {
            let (data, _) = try await URLSession.shared.data(from: url)
            return try JSONDecoder().decode(RoomReading.self, from: data)
        } catch {
            throw BenchmarkError.programFailed(name: "confrelay", reason: "\(url) cannot be read: \(error)")
        }
    }

    func sum(_ counter: KeyPath<Participant, UInt64>) -> Double {
        participants.reduce(0) { $0 + Double($1[keyPath: counter]) }
    }
}
