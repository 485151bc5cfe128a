import Glibc
import NIOCore
import SecureTransport
import Testing

@testable import RelayServer

@Suite("Sending datagrams in batches")
struct DatagramSenderTests {
    private func datagram(_ size: Int, _ mark: UInt8) -> ByteBuffer {
        ByteBuffer(repeating: mark, count: size)
    }

    private func makeSender(_ socket: UDPPeer, offload: Bool = System.supportsUDPSegmentationOffload) -> DatagramSender
    {
        DatagramSender(
            descriptor: socket.descriptor, isIPv6: socket.address.isIPv6, usesSegmentationOffload: offload)
    }

    @Test("datagrams of any sizes to several peers arrive complete and in order", arguments: [true, false])
    func mixedSizes(offload: Bool) throws {
        let (socket, ada, ben) = (try UDPPeer(), try UDPPeer(), try UDPPeer())
        let sender = makeSender(socket, offload: offload && System.supportsUDPSegmentationOffload)
        let sizes = [1200, 1200, 1200, 700, 1200, 60, 60, 61, 1, 1200, 1200]
        for (index, size) in sizes.enumerated() { sender.enqueue(datagram(size, UInt8(index)), to: ada.address) }
        for index in 0..<5 { sender.enqueue(datagram(100, UInt8(index)), to: ben.address) }
        sender.flush()
        for (index, size) in sizes.enumerated() {
            #expect(ada.receive() == [UInt8](repeating: UInt8(index), count: size))
        }
        for index in 0..<5 { #expect(ben.receive() == [UInt8](repeating: UInt8(index), count: 100)) }
        #expect(sender.counters.datagramsSent == 16)
        #expect(sender.counters.bytesSent == UInt64(sizes.reduce(0, +) + 500))
    }

    @Test("a run of one size takes one system call", .enabled(if: System.supportsUDPSegmentationOffload))
    func runsAreSegmented() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let sender = makeSender(socket)
        for index in 0..<16 { sender.enqueue(datagram(index == 15 ? 300 : 1200, UInt8(index)), to: peer.address) }
        sender.flush()
        for index in 0..<16 { #expect(peer.receive()?.first == UInt8(index)) }
        #expect(sender.counters.systemCalls == 1)
    }

    @Test("more than a kernel segments at a time goes out in several runs")
    func longRunsAreSplit() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let sender = makeSender(socket)
        for index in 0..<150 { sender.enqueue(datagram(200, UInt8(index)), to: peer.address) }
        sender.flush()
        for index in 0..<150 { #expect(peer.receive() == [UInt8](repeating: UInt8(index), count: 200)) }
        #expect(sender.counters.datagramsSent == 150)
    }

    @Test("a datagram that the kernel refuses is counted and hurts no other")
    func refusedDatagrams() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let sender = makeSender(socket)
        sender.enqueue(datagram(100, 1), to: peer.address)
        // A socket without permission to broadcast gets EACCES; port zero gets EINVAL; no datagram holds 70 000 bytes.
        sender.enqueue(datagram(100, 2), to: TransportAddress(ipv4: 0xFFFF_FFFF, port: 9))
        sender.enqueue(datagram(100, 3), to: TransportAddress(ipv4: 0x7F00_0001, port: 0))
        sender.enqueue(datagram(70_000, 4), to: peer.address)
        sender.enqueue(datagram(100, 5), to: TransportAddress(ipv6: (0, 1), port: 9))
        sender.enqueue(datagram(100, 6), to: peer.address)
        sender.flush()
        #expect(peer.receive()?.first == 1)
        #expect(peer.receive()?.first == 6)
        #expect(sender.counters.droppedUnsendable == 4)
        #expect(sender.counters.datagramsSent == 2)
    }

    @Test("a path whose local address is none of the machine's is told, once", arguments: [true, false])
    func failedPaths(offload: Bool) throws {
        let (socket, peer) = (try UDPPeer(host: "0.0.0.0"), try UDPPeer())
        let sender = makeSender(socket, offload: offload && System.supportsUDPSegmentationOffload)
        let gone = NetworkPath(remote: peer.address, local: TransportAddress(ipv4: 0xC000_0263, port: 0))
        for _ in 0..<3 { sender.enqueue(datagram(100, 1), on: gone) }
        sender.enqueue(datagram(100, 2), on: NetworkPath(remote: peer.address))
        sender.flush()
        #expect(peer.receive()?.first == 2)
        #expect(sender.takeFailedPaths() == [gone])
        #expect(sender.takeFailedPaths() == [])
    }

    @Test(
        "datagrams leave from the address that their path names, in runs or one by one",
        .enabled(if: UDPPeer.hasIPv6), arguments: ["0.0.0.0", "::"], [true, false])
    func localAddresses(host: String, offload: Bool) throws {
        let (socket, peer) = (try UDPPeer(host: host), try UDPPeer())
        let sender = makeSender(socket, offload: offload && System.supportsUDPSegmentationOffload)
        let locals = [nil, "127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3", nil, "127.0.0.2"]
        for (index, host) in locals.enumerated() {
            let local = host.flatMap { TransportAddress(host: $0, port: 0) }
            sender.enqueue(datagram(100, UInt8(index)), on: NetworkPath(remote: peer.address, local: local))
        }
        sender.flush()
        for (index, host) in locals.enumerated() {
            let received = try #require(peer.receiveFromSource())
            #expect(received.bytes == [UInt8](repeating: UInt8(index), count: 100))
            #expect(received.source == TransportAddress(host: host ?? "127.0.0.1", port: socket.address.port))
        }
    }

    @Test("a run has one local address")
    func runsOfOneAddress() {
        var runs: [Int] = []
        let sender = makeSender { count in
            runs.append(count)
            return 100
        }
        for host in [1, 1, 1, 2, 2, 1] as [UInt32] {
            let local = TransportAddress(ipv4: 0xC633_6400 | host, port: 0)
            sender.enqueue(datagram(100, 0), on: NetworkPath(remote: somewhere, local: local))
        }
        sender.flush()
        #expect(runs == [3, 2, 1])
    }

    @Test("datagrams from an address that this machine has no more are dropped and counted, and the others leave")
    func lostAddress() throws {
        let (socket, peer) = (try UDPPeer(host: "0.0.0.0"), try UDPPeer())
        let sender = makeSender(socket)
        let lost = NetworkPath(remote: peer.address, local: TransportAddress(ipv4: 0xC633_6407, port: 0))
        for _ in 0..<3 { sender.enqueue(datagram(100, 1), on: lost) }
        for _ in 0..<3 { sender.enqueue(datagram(100, 2), to: peer.address) }
        sender.flush()
        for _ in 0..<3 { #expect(peer.receive()?.first == 2) }
        #expect(sender.counters.droppedUnsendable == 3)
        #expect(sender.counters.datagramsSent == 3)
    }

    /// A sender whose system call is `outcome`, of the number of datagrams in the call.
    private func makeSender(outcome: @escaping (Int) -> Int) -> DatagramSender {
        DatagramSender(descriptor: -1, isIPv6: false, usesSegmentationOffload: true) { _, message in
            outcome(message.pointee.msg_iovlen)
        }
    }

    private let somewhere = TransportAddress(ipv4: 0xC000_0207, port: 9)

    @Test("datagrams beyond the socket's buffer are dropped and counted, not kept")
    func fullBuffer() {
        var calls = 0
        let sender = makeSender { _ in
            calls += 1
            return -Int(EAGAIN)
        }
        for _ in 0..<10 { sender.enqueue(datagram(100, 0), to: somewhere) }
        sender.flush()
        sender.flush()
        #expect(calls == 1)
        #expect(sender.counters.droppedBufferFull == 10)
        #expect(sender.counters.datagramsSent == 0)
    }

    @Test("if segmentation fails, datagrams are sent one by one from then on")
    func segmentationRefused() {
        var runs: [Int] = []
        let sender = makeSender { count in
            runs.append(count)
            return count > 1 ? -Int(EIO) : 100
        }
        for _ in 0..<2 {
            for _ in 0..<3 { sender.enqueue(datagram(100, 0), to: somewhere) }
            sender.flush()
        }
        #expect(runs == [3, 1, 1, 1, 1, 1, 1])
        #expect(sender.counters.datagramsSent == 6)
    }

    @Test("a run too large for its route goes one by one, the next is tried as a run again")
    func runTooLarge() {
        var runs: [Int] = []
        let sender = makeSender { count in
            runs.append(count)
            return runs.count == 1 ? -Int(EMSGSIZE) : 100
        }
        for _ in 0..<2 {
            for _ in 0..<3 { sender.enqueue(datagram(100, 0), to: somewhere) }
            sender.flush()
        }
        #expect(runs == [3, 1, 1, 1, 3])
    }

    @Test("an interrupted system call is tried again")
    func interrupted() {
        var calls = 0
        let sender = makeSender { _ in
            calls += 1
            return calls == 1 ? -Int(EINTR) : 100
        }
        sender.enqueue(datagram(100, 0), to: somewhere)
        sender.flush()
        #expect(calls == 2)
        #expect(sender.counters.datagramsSent == 1)
    }

    @Test("a flood without a flush does not pile up")
    func boundedQueue() {
        var sent = 0
        let sender = makeSender { count in
            sent += count
            return 100
        }
        for _ in 0..<10_000 { sender.enqueue(datagram(100, 0), to: somewhere) }
        #expect(sent > 9000)
    }

    @Test("an empty datagram is sent as one")
    func emptyDatagram() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let sender = makeSender(socket)
        sender.enqueue(datagram(10, 1), to: peer.address)
        sender.enqueue(ByteBuffer(), to: peer.address)
        sender.enqueue(datagram(10, 2), to: peer.address)
        sender.flush()
        #expect(peer.receive()?.count == 10)
        #expect(peer.receive()?.isEmpty == true)
        #expect(peer.receive()?.count == 10)
    }
}

extension DatagramSender {
    fileprivate func enqueue(_ datagram: ByteBuffer, to destination: TransportAddress) {
        enqueue(datagram, on: NetworkPath(remote: destination))
    }
}
