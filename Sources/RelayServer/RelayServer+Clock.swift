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
