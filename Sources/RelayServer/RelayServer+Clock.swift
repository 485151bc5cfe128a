import Foundation
import MediaCore
import RTP
import RoomMedia
import ServiceLifecycle

/// The time of day while the relay runs.
extension RelayServer {
    /// The time between two looks at the system's clock.
    private static let clockInterval = Duration.seconds(5)

    /// Tells the relay what the system's clock shows.
    func followClock() async {
        await cancelWhenGracefulShutdown { [driver] in
            while (try? await Task.sleep(for: Self.clockInterval)) != nil {
                await driver.act { relay, _ in relay.setWallClock(.system()) }
            }
        }
    }
}

extension WallClock {
    /// Returns a wall clock that agrees with the system's clock at this moment.
    static func system() -> WallClock {
        let sinceUnixEpoch = Duration.seconds(Date().timeIntervalSince1970)
        let sinceOrigin = MonotonicInstant.now() - MonotonicInstant.zero
        return WallClock(ntpAtOrigin: NTPTime(unixTime: sinceUnixEpoch - sinceOrigin))
    }
}
