import Foundation

/// Reads how many datagrams the kernel dropped at a UDP socket because its receive buffer was full.
struct KernelDropCounter {
    /// The socket's local port.
    let port: UInt16

    /// The count since the socket was bound; nil if the kernel does not tell.
    func read() -> UInt64? {
        let tables = ["/proc/net/udp", "/proc/net/udp6"].compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        guard !tables.isEmpty else { return nil }
        return Self.drops(port: port, tables: tables)
    }

    /// Sums the drops of all sockets on `port` in tables of the form of `/proc/net/udp`.
    ///
    /// A row begins `sl local_address rem_address …`, with `HEX:PORT` in hexadecimal, and ends with the drops.
    static func drops(port: UInt16, tables: [String]) -> UInt64 {
        var sum: UInt64 = 0
        for row in tables.joined(separator: "\n").split(separator: "\n") {
            let fields = row.split(separator: " ")
            guard fields.count >= 13, let localPort = fields[1].split(separator: ":").last,
                UInt16(localPort, radix: 16) == port, let last = fields.last, let drops = UInt64(last)
            else { continue }
            sum &+= drops
        }
        return sum
    }
}
