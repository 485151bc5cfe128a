import LinkEmulation
import MediaCore
import NIOCore
import SecureTransport
import Simulation
import Testing

@testable import RelayServer

@Suite("Emulated downlinks")
struct EmulatedDownlinksTests {
    private let ada = TransportAddress(ipv4: 0x7F00_0001, port: 5000)
    private let ben = TransportAddress(ipv4: 0x7F00_0001, port: 5001)

    private func downlinks() throws -> EmulatedDownlinks {
        EmulatedDownlinks(
            profile: try LinkProfile(parsing: "rate=800k,delay=40ms") { _ throws(LinkProfileError) in "" }, start: .zero
        )
    }

    @Test("datagrams to one address do not delay those to another")
    func separateLinks() throws {
        var downlinks = try downlinks()
        // 1000 bytes with their headers take 10 ms at 800 kbit/s.
        for address in [ada, ada, ada, ben] {
            downlinks.send(ByteBuffer(repeating: 0, count: 972), on: NetworkPath(remote: address), now: .zero)
        }
        var arrivals: [TransportAddress: [Int64]] = [:]
        var now = MonotonicInstant.zero
        while downlinks.nextDelivery < .distantFuture {
            now = downlinks.nextDelivery
            downlinks.deliver(now: now) { arrivals[$1.remote, default: []].append(now.nanoseconds / 1_000_000) }
        }
        #expect(arrivals == [ada: [50, 60, 70], ben: [50]])
    }

    @Test("addresses without end take a bounded number of links")
    func bounded() throws {
        var downlinks = try downlinks()
        for port in 1...5000 {
            downlinks.send(
                ByteBuffer(repeating: 0, count: 100),
                on: NetworkPath(remote: TransportAddress(ipv4: 1, port: UInt16(port))), now: .zero)
        }
        var delivered = 0
        downlinks.deliver(now: .zero + .seconds(1)) { _, _ in delivered += 1 }
        #expect(delivered == 1024)
    }
}
