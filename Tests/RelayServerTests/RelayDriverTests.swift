import MediaCore
import NIOCore
import NIOPosix
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import PeerConnection
@testable import RelayServer
@testable import RoomMedia

@Suite("The relay's driver")
struct RelayDriverTests {
    /// Runs `body` with a driver that serves a twin on a free port, by default of loopback.
    private func withDriver(
        _ script: TwinRelay.Script, host: String = "127.0.0.1", _ body: (RelayDriver, UInt16) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let driver = RelayDriver(eventLoop: group.next(), workerCount: 1) { TwinRelay(script) }
        let channel = try await MediaSocket.bind(to: SocketAddress(ipAddress: host, port: 0), on: group.next())
        try await driver.start(mediaChannel: channel)
        let port = try #require(channel.localAddress?.port)
        do {
            try await body(driver, UInt16(clamping: port))
        } catch {
            Issue.record(error)
        }
        await driver.close()
        try await group.shutdownGracefully()
    }

    @Test("datagrams reach the relay with their bytes and their source")
    func receiving() async throws {
        let script = TwinRelay.Script()
        try await withDriver(script) { _, port in
            let peer = try UDPPeer()
            for index in 0..<100 { peer.send([UInt8](repeating: UInt8(index), count: index), toPort: port) }
            try await script.wait { $0.received.count == 100 }
            let received = script.state.withLock { $0.received }
            #expect(received.map(\.bytes) == (0..<100).map { [UInt8](repeating: UInt8($0), count: $0) })
            #expect(received.allSatisfy { $0.source == peer.address })
        }
    }

    @Test("a relay that wants to be woken without end still gets its datagrams")
    func wakingWithoutEnd() async throws {
        let script = TwinRelay.Script()
        script.state.withLock {
            $0.nextWakeUp = .zero
            $0.isWokenWithoutEnd = true
        }
        try await withDriver(script) { _, port in
            let peer = try UDPPeer()
            peer.send([1, 2, 3], toPort: port)
            try await script.wait { $0.received.count == 1 && $0.wakeUps.count > 10 }
        }
    }

    @Test("the times that the relay gets never go back")
    func monotonicTime() async throws {
        let script = TwinRelay.Script()
        try await withDriver(script) { _, port in
            let peer = try UDPPeer()
            for _ in 0..<50 { peer.send([1], toPort: port) }
            try await script.wait { $0.received.count == 50 }
            let times = script.state.withLock { $0.receiveTimes }
            #expect(times == times.sorted())
            let last = try #require(times.last)
            #expect(last <= .now())
        }
    }

    @Test("a datagram that comes while results are taken has not arrived before it was sent")
    func arrivalsBesideResults() async throws {
        let script = TwinRelay.Script()
        let peer = try UDPPeer()
        @Sendable func wait(for duration: Duration) {
            let start = MonotonicInstant.now()
            while MonotonicInstant.now() - start < duration {}
        }
        let job = Job(kind: .mix, queue: JobQueueID(rawValue: 1), deadline: .zero, handedOut: .zero) {
            // The loop looks at its socket meanwhile.
            wait(for: .microseconds(300))
            return .mixed(room: "r", [])
        }
        try await withDriver(script) { driver, port in
            script.state.withLock { state in
                state.jobs = [job]
                state.onComplete = {
                    wait(for: .milliseconds(30))
                    // More than one reading takes: from then on the socket is read at each turn.
                    for _ in 0..<300 {
                        let sent = MonotonicInstant.now().nanoseconds
                        peer.send((0..<8).map { UInt8(truncatingIfNeeded: sent >> (8 * $0)) }, toPort: port)
                    }
                    script.state.withLock { if $0.arrivals.count < 2000 { $0.jobs.append(job) } }
                }
            }
            #expect(await !driver.leave(room: "r", participant: "nobody"))
            try await script.wait { $0.arrivals.count >= 2000 }
            let (received, arrivals) = script.state.withLock { state in
                state.onComplete = nil
                return (state.received.map(\.bytes), state.arrivals)
            }
            let waits = zip(received, arrivals).compactMap { bytes, arrival -> Duration? in
                let sent = bytes.reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
                return arrival.map { $0 - MonotonicInstant(nanoseconds: sent) }
            }
            // The two clocks are read one after the other.
            let shortest = try #require(waits.min())
            #expect(shortest > .milliseconds(-10))
        }
    }

    @Test("the relay's datagrams are sent after each input")
    func transmitting() async throws {
        let script = TwinRelay.Script()
        script.state.withLock { $0.echoes = true }
        try await withDriver(script) { _, port in
            let peer = try UDPPeer()
            for index in 0..<20 { peer.send([UInt8](repeating: UInt8(index), count: 200), toPort: port) }
            for index in 0..<20 { #expect(peer.receive() == [UInt8](repeating: UInt8(index), count: 200)) }
        }
    }

    @Test(
        "answers leave from the address to which the datagrams were sent", .enabled(if: UDPPeer.hasIPv6),
        arguments: ["0.0.0.0", "::"])
    func answeringAddress(host: String) async throws {
        let script = TwinRelay.Script()
        script.state.withLock { $0.echoes = true }
        try await withDriver(script, host: host) { _, port in
            let peer = try UDPPeer()
            // The socket announces the first datagram, and is asked for those that follow it closely.
            for round in 0..<40 {
                let own = "127.0.0.\(1 + round % 3)"
                peer.send([UInt8](repeating: UInt8(round), count: 200), toPort: port, of: own)
                let answer = try #require(peer.receiveFromSource())
                #expect(answer.bytes.first == UInt8(round))
                #expect(answer.source == TransportAddress(host: own, port: port))
            }
        }
    }

    @Test("the relay is woken when it asked to be, not before")
    func wakingUp() async throws {
        let script = TwinRelay.Script()
        let wanted = MonotonicInstant.now() + .milliseconds(20)
        script.state.withLock { $0.nextWakeUp = wanted }
        try await withDriver(script) { _, _ in
            try await script.wait { !$0.wakeUps.isEmpty }
            let wakeUp = try #require(script.state.withLock { $0.wakeUps.first })
            #expect(wakeUp >= wanted)
        }
    }

    @Test("an earlier request overtakes a timer that is set")
    func earlierWakeUp() async throws {
        let script = TwinRelay.Script()
        script.state.withLock { $0.nextWakeUp = .now() + .seconds(3600) }
        try await withDriver(script) { driver, _ in
            script.state.withLock { $0.nextWakeUp = .now() + .milliseconds(5) }
            #expect(await !driver.leave(room: "r", participant: "nobody"))
            try await script.wait { !$0.wakeUps.isEmpty }
        }
    }

    @Test("closing says goodbye and hears nothing more")
    func closing() async throws {
        let script = TwinRelay.Script()
        let peer = try UDPPeer()
        script.state.withLock {
            $0.byes = [.init(datagram: ByteBuffer(string: "bye"), path: NetworkPath(remote: peer.address))]
        }
        try await withDriver(script) { driver, _ in
            await driver.close()
            #expect(peer.receive() == Array("bye".utf8))
            #expect(script.state.withLock { $0.isClosed })
            await #expect(throws: JoinError.self) {
                try await driver.join(JoinRequest(room: "r", name: "n", offer: ""))
            }
            #expect(await !driver.report().isServing)
            try await driver.waitUntilClosed()
        }
    }

    @Test("draining ends when the relay says that nobody is there, and not before")
    func draining() async throws {
        let script = TwinRelay.Script()
        script.state.withLock { $0.isEmpty = false }
        try await withDriver(script) { driver, _ in
            let emptied = await driver.drain(isMoving: false)
            #expect(script.state.withLock { $0.snapshot.isDraining })
            let wait = Task { for await _ in emptied {} }
            script.state.withLock {
                $0.isEmpty = true
                $0.events = [RoomEvent(room: "r", kind: .closed)]
            }
            #expect(await !driver.leave(room: "r", participant: "nobody"))
            await wait.value
        }
    }

    @Test("requests pass through to the relay and come back with its answer")
    func joining() async throws {
        let script = TwinRelay.Script()
        try await withDriver(script) { driver, _ in
            let joined = try await driver.join(JoinRequest(room: "r", name: "Ada", offer: "v=0"))
            #expect(joined.participantID == "p1")
            #expect(await driver.leave(room: "r", participant: "p1"))
            #expect(await !driver.leave(room: "r", participant: "p1"))
        }
    }

    @Test("the report counts the socket's packets")
    func reporting() async throws {
        let script = TwinRelay.Script()
        script.state.withLock { $0.echoes = true }
        try await withDriver(script) { driver, port in
            let peer = try UDPPeer()
            peer.send([1, 2, 3], toPort: port)
            #expect(peer.receive() == [1, 2, 3])
            let report = await driver.report()
            #expect(report.isServing)
            #expect(report.socket.datagramsReceived == 1)
            #expect(report.socket.bytesReceived == 3)
            #expect(report.socket.datagramsSent == 1)
        }
    }
}
