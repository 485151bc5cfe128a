import MediaCore
import RTP
import ServiceLifecycle

/// The time of day while the relay runs.
extension RelayServer {
    /// How often the system's clock is looked at.
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
