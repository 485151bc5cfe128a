import Glibc
import NIOCore
import Testing

/// UDP ports that nobody uses at the moment, below those that the system gives out by itself.
enum FreePorts {
    /// Even ports that are free, as are the odd ones after them.
    static func pairs(_ count: Int) throws -> [UInt16] {
        var found: [UInt16] = []
        for _ in 0..<1000 where found.count < count {
            let port = UInt16.random(in: 5_000..<16_000) * 2
            if !found.contains(port), isFree(port), isFree(port + 1) { found.append(port) }
        }
        try #require(found.count == count, "no free UDP ports")
        return found
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        let isBound = try? SocketAddress(ipAddress: "0.0.0.0", port: Int(port)).withSockAddr { name, size in
            bind(descriptor, name, socklen_t(size)) == 0
        }
        return isBound ?? false
    }
}
