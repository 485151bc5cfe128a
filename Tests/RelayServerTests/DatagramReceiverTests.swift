import CSocket
import Glibc
import MediaCore
import NIOCore
import SecureTransport
import Testing

@testable import RelayServer
@testable import RoomMedia

@Suite("Receiving datagrams with their times")
struct DatagramReceiverTests {
    private func read(_ receiver: DatagramReceiver, limit: Int = 256) -> [DatagramReceiver.Datagram] {
        var batch: [DatagramReceiver.Datagram] = []
        receiver.read(into: &batch, limit: limit, now: .now())
        return batch
    }

    /// Returns when the kernel stamps datagrams: it begins a little after it was first asked to.
    private func awaitStamps(of receiver: DatagramReceiver, _ socket: UDPPeer, _ peer: UDPPeer) throws {
        var isStamping = false
        for _ in 0..<500 where !isStamping {
            let sent = MonotonicInstant.now()
            peer.send([0], toPort: socket.address.port)
            while MonotonicInstant.now() - sent < .milliseconds(2) {}
            let early = try #require(read(receiver).first)
            isStamping = early.arrival <= sent + .milliseconds(1)
        }
        try #require(isStamping)
    }

    /// Lets so much time pass from now on: not from before a send, in which the thread may be held up.
    private func pass(_ duration: Duration) {
        let start = MonotonicInstant.now()
        while MonotonicInstant.now() - start < duration {}
    }

    @Test("datagrams come with their bytes and their sources, in order")
    func contents() throws {
        let (socket, ada, ben) = (try UDPPeer(), try UDPPeer(), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        #expect(read(receiver).isEmpty)
        for index in 0..<20 {
            (index.isMultiple(of: 3) ? ada : ben).send(
                [UInt8](repeating: UInt8(index), count: 60 * index), toPort: socket.address.port)
        }
        let batch = read(receiver)
        let contents = batch.map { Array($0.payload.readableBytesView) }
        #expect(contents == (0..<20).map { [UInt8](repeating: $0, count: 60 * Int($0)) })
        #expect(batch.enumerated().allSatisfy { $1.path.remote == ($0.isMultiple(of: 3) ? ada : ben).address })
        #expect(read(receiver).isEmpty)
    }

    @Test("a datagram's time is when the kernel received it, however late it is read")
    func lateReading() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        try awaitStamps(of: receiver, socket, peer)
        let start = MonotonicInstant.now()
        peer.send([1], toPort: socket.address.port)
        pass(.milliseconds(30))
        let middle = MonotonicInstant.now()
        peer.send([2], toPort: socket.address.port)
        pass(.milliseconds(30))
        let batch = read(receiver)
        #expect(batch.count == 2)
        // The kernel stamps with the wall clock: the two clocks are read one after the other.
        let tolerance = Duration.milliseconds(1)
        #expect(batch[0].arrival > start - tolerance && batch[0].arrival < middle)
        #expect(batch[1].arrival > middle - tolerance)
        #expect(batch[1].arrival - batch[0].arrival >= .milliseconds(29))
    }

    @Test("a datagram has not arrived before it was sent, though its reader is held up after looking at the clock")
    func heldUp() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        try awaitStamps(of: receiver, socket, peer)
        let sent = MonotonicInstant.now()
        peer.send([1], toPort: socket.address.port)
        let now = MonotonicInstant.now()
        while MonotonicInstant.now() - now < .milliseconds(30) {}
        var batch: [DatagramReceiver.Datagram] = []
        receiver.read(into: &batch, limit: 1, now: now)
        let arrival = try #require(batch.first).arrival
        // The wall clock may be steered meanwhile, by little.
        #expect(arrival >= sent - .milliseconds(1) && arrival <= now)
    }

    @Test("a read takes at most its limit, and the rest stays")
    func limit() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        for index in 0..<10 { peer.send([UInt8(index)], toPort: socket.address.port) }
        #expect(read(receiver, limit: 6).map { $0.payload.getInteger(at: 0) } == (0..<6).map { UInt8($0) })
        #expect(read(receiver, limit: 6).map { $0.payload.getInteger(at: 0) } == (6..<10).map { UInt8($0) })
    }

    @Test("a datagram that is too large is cut, and the next one is whole")
    func oversize() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        peer.send([UInt8](repeating: 1, count: 9000), toPort: socket.address.port)
        peer.send([UInt8](repeating: 2, count: 5), toPort: socket.address.port)
        let batch = read(receiver)
        #expect(batch.map(\.payload.readableBytes) == [DatagramReceiver.datagramCapacity, 5])
    }

    @Test("more datagrams than one system call receives come in order, and their lengths do not mix")
    func severalCalls() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        for round in 0..<2 {
            let count = DatagramReceiver.datagramsPerCall * 2 + 5
            for index in 0..<count {
                peer.send([UInt8](repeating: UInt8(index), count: (index + round) % 7), toPort: socket.address.port)
            }
            let contents = read(receiver).map { Array($0.payload.readableBytesView) }
            #expect(contents == (0..<count).map { [UInt8](repeating: UInt8($0), count: ($0 + round) % 7) })
        }
    }

    @Test(
        "a socket of all addresses tells to which of them each datagram was sent, besides its time",
        .enabled(if: UDPPeer.hasIPv6), arguments: ["0.0.0.0", "::"])
    func destinations(host: String) throws {
        let (socket, peer) = (try UDPPeer(host: host), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        socket.reportDestinations()
        try awaitStamps(of: receiver, socket, peer)
        let hosts = ["127.0.0.1", "127.0.0.2", "127.0.0.2", "127.0.0.9"]
        for host in hosts { peer.send([1], toPort: socket.address.port, of: host) }
        let paths = read(receiver).map(\.path)
        #expect(paths.map(\.local) == hosts.map { TransportAddress(host: $0, port: 0) })
        #expect(paths.allSatisfy { $0.remote == peer.address })
    }

    @Test("a socket that does not report destinations names none")
    func withoutDestinations() throws {
        let (socket, peer) = (try UDPPeer(), try UDPPeer())
        let receiver = DatagramReceiver(descriptor: socket.descriptor)
        peer.send([1], toPort: socket.address.port)
        #expect(read(receiver).map(\.path) == [NetworkPath(remote: peer.address)])
    }

    /// A control message of the given length, which may be false.
    private func control(level: CInt, type: CInt, length: Int? = nil, _ value: [UInt8]) -> [UInt8] {
        var header = cmsghdr()
        header.cmsg_len = length ?? MemoryLayout<cmsghdr>.size + value.count
        header.cmsg_level = level
        header.cmsg_type = type
        return withUnsafeBytes(of: header) { Array($0) } + value
    }

    @Test("control messages that are cut, too long or unknown are harmless")
    func strangeControls() throws {
        let own: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1]
        let other = control(level: 1, type: 99, [1, 2, 3]) + [0, 0, 0, 0, 0]
        let whole = control(level: 0, type: 8, own)
        let named = TransportAddress(ipv4: 0xC000_0201, port: 0)
        #expect(localAddress(in: whole) == named)
        #expect(localAddress(in: other + whole) == named)
        #expect(localAddress(in: control(level: 41, type: 50, [UInt8](repeating: 0, count: 19))) == nil)
        #expect(localAddress(in: control(level: 1, type: 35, [1]) + [UInt8](repeating: 0, count: 7) + whole) == named)
        for length in [0, 1, 15, 16, 17, 27, 29, 1000, .max, .min, -1] {
            #expect(localAddress(in: control(level: 0, type: 8, length: length, own)) == nil)
        }
        for count in 0..<whole.count { #expect(localAddress(in: Array(whole.prefix(count))) == nil) }
    }

    /// Our address that a receiver reads from control messages.
    private func localAddress(in control: [UInt8]) -> TransportAddress? {
        read(makeReceiver(control: control) { 1 }).first?.path.local
    }

    /// A receiver whose system call is `outcome`, with datagrams of one byte, of one sender and without stamps.
    private func makeReceiver(control: [UInt8] = [], outcome: @escaping () -> Int) -> DatagramReceiver {
        DatagramReceiver(descriptor: -1) { _, messages in
            let count = outcome()
            for index in 0..<max(count, 0) {
                messages[index].size = 1
                messages[index].message.control_length = CUnsignedLong(control.count)
                messages[index].message.control.copyMemory(from: control, byteCount: control.count)
                let address = SystemAddress(TransportAddress(ipv4: 0x7F00_0001, port: 9), isIPv6Socket: false)
                address?.withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(start: messages[index].message.name, count: bytes.count)
                        .copyMemory(from: bytes)
                    messages[index].message.name_length = CUnsignedInt(bytes.count)
                }
            }
            return count
        }
    }

    @Test("an interrupted system call is tried again, an error ends the read")
    func errors() throws {
        let outcomes = [-Int(EINTR), DatagramReceiver.datagramsPerCall, -Int(ENOMEM), 3]
        var calls = 0
        let receiver = makeReceiver {
            defer { calls += 1 }
            return outcomes[calls]
        }
        #expect(read(receiver).count == DatagramReceiver.datagramsPerCall)
        #expect(calls == 3)
    }

    @Test("a system call that receives less than it may is the last of a read")
    func emptied() throws {
        var calls = 0
        let receiver = makeReceiver {
            calls += 1
            return 3
        }
        #expect(read(receiver).count == 3)
        #expect(calls == 1)
    }

    @Test("without stamps a datagram has arrived when it is read")
    func withoutStamps() throws {
        let receiver = makeReceiver { 2 }
        var batch: [DatagramReceiver.Datagram] = []
        let now = MonotonicInstant(nanoseconds: 7_000_000_000)
        receiver.read(into: &batch, limit: 9, now: now)
        #expect(batch.map(\.arrival) == [now, now])
    }
}
