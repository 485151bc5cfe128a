import ConferenceClient
import Foundation
import MediaCore
import NIOPosix
import SecureTransport

/// The clients of one conference of the relay.
struct CapacityCrowd {
    private let loads: [LoadRun]
    let memberCount: Int

    /// Joins the room, with the first receiver as the viewer whose frames are logged.
    static func join(
        _ room: URL, way: CapacityWay, participants: Int, clips: [TestClip], hasSound: Bool, log: FrameLog
    ) async throws -> Self {
        var client = JoinOptions(url: try RoomURL(room.absoluteString), name: "Load")
        client.maximumBitRate = Workload.sourceBitRate * 2
        client.receives = !way.hasSilentReceivers
        if !hasSound { client.audio = .none }
        var options = LoadOptions(client: client, count: participants)
        if way.sendsClip {
            options.clips = clips.map {
                PreEncodedClip(
                    samples: $0.samples, dimensions: Workload.sourceDimensions, frameRate: Double(Workload.frameRate))
            }
        }
        options.observer = { index in
            FrameLogger(
                log: log, sender: way.sendsClip ? index : nil, isViewer: index == 0 && !way.hasSilentReceivers)
        }
        var loads = [try await start(options)]
        if way.hasSilentReceivers {
            loads.append(try await start(silentReceivers(of: room, count: participants, log: log)))
        }
        return Self(loads: loads, memberCount: participants * loads.count)
    }

    /// Receivers as ffmpeg is one: with the keys in the offer, the suite that ffmpeg has, and without a packet of their
    /// own.
    private static func silentReceivers(of room: URL, count: Int, log: FrameLog) throws -> LoadOptions {
        var client = JoinOptions(url: try RoomURL(room.absoluteString), name: "Viewer")
        client.video = .none
        client.audio = .none
        client.transport = .sdes
        client.srtpProfiles = [.aesCM128HMACSHA1_80]
        client.isSilent = true
        var options = LoadOptions(client: client, count: count)
        options.observer = { FrameLogger(log: log, sender: nil, isViewer: $0 == 0) }
        return options
    }

    private static func start(_ options: LoadOptions) async throws -> LoadRun {
        let load = try await LoadRun.start(options, on: MultiThreadedEventLoopGroup.singleton)
        if let error = load.joinErrors.first {
            _ = try? await load.leave(end: "failed")
            throw error
        }
        return load
    }

    /// Leaves. The clients' reports are of no interest.
    func leave() async {
        for load in loads { _ = try? await load.leave(end: "duration") }
    }
}
