import Foundation
import NIOCore
import NIOPosix

/// Finds out whether another relay is there at all.
enum RelayProbe {
    private static let timeout = TimeAmount.seconds(1)

    /// True if something accepts connections at a relay's address. A process that hangs does; its lease ends by itself.
    static func answers(at url: String) async -> Bool {
        guard let parts = URLComponents(string: url), let host = parts.host else { return false }
        let port = parts.port ?? (parts.scheme == "https" ? 443 : 80)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(timeout)
        guard
            let channel = try? await bootstrap.connect(
                host: host.trimmingCharacters(in: ["[", "]"]), port: port
            ).get()
        else { return false }
        channel.close(promise: nil)
        return true
    }
}
