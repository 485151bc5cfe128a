import Conference
import Foundation
import LoadControl
import Logging
import MediaCore
import NIOPosix
import RoomMedia
import ServiceLifecycle

/// The work on recordings while the relay runs.
extension RelayServer {
    /// The time between two searches for recordings to delete.
    private static let retentionInterval = Duration.seconds(600)

    func deleteExpiredRecordings() async {
        guard let recordings, recordings.settings.keep != nil else { return }
        await cancelWhenGracefulShutdown { [logger] in
            repeat {
                let deleted = try? await NIOThreadPool.singleton.runIfActive { recordings.deleteExpired(now: .now) }
                for id in deleted ?? [] { logger.notice("recording deleted", metadata: ["recording": "\(id)"]) }
            } while (try? await Task.sleep(for: Self.retentionInterval)) != nil
        }
    }

    /// The time between two measurements of the calls' load, while films are made.
    private static let exportInterval = Duration.seconds(1)

    /// Has films of recordings made while calls leave time for them.
    func makeFilms() async {
        guard let recordings else { return }
        try? await NIOThreadPool.singleton.runIfActive { [logger] in recordings.resumeExports(logger: logger) }
        await cancelWhenGracefulShutdown { [driver] in
            var load = ExportLoad()
            repeat {
                guard recordings.exports.isBusy else { continue }
                let report = await driver.report()
                load.update(
                    busyTime: report.workers.busyTime, workerCount: report.workerCount,
                    level: report.relay.overload?.level, now: .now())
                recordings.exports.setLoad(isHigh: load.isHigh)
            } while (try? await Task.sleep(for: Self.exportInterval)) != nil
        }
        try? await NIOThreadPool.singleton.runIfActive { recordings.exports.close() }
    }
}
