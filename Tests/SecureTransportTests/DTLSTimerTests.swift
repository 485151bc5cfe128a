import CDTLSClock
import Dispatch
import Foundation
import MediaCore
import NIOCore
import SecureTransport
import Synchronization
import Testing

@Suite struct DTLSTimerTests {
    @Test("a flight that nobody answers goes out again after 0.2 s, then at twice the distance up to 3 s")
    func retransmission() throws {
        let start = MonotonicInstant(nanoseconds: 7_000_000_000)
        let connection = try connect(now: start)
        var times: [Double] = []
        var now = start
        while let deadline = connection.nextDeadline {
            while connection.pollTransmit() != nil { times.append((now - start).seconds) }
            now = deadline
            connection.advance(now: now)
        }
        #expect(times == [0, 0.2, 0.6, 1.4, 3.0, 6, 9, 12, 15, 18, 21, 24, 27])
        #expect(connection.state == .failed(.timedOut))
        #expect(connection.pollEvent() == .failed(.timedOut))
        #expect(connection.pollEvent() == nil)
        #expect(now - start == DTLSConnection.handshakeTimeout)
    }

    @Test("nothing is sent again before its time")
    func patience() throws {
        let connection = try connect(now: .zero)
        while connection.pollTransmit() != nil {}
        connection.advance(now: MonotonicInstant(nanoseconds: 180_000_000))
        #expect(connection.pollTransmit() == nil)
        #expect(connection.nextDeadline == MonotonicInstant(nanoseconds: 200_000_000))
    }

    @Test("a server that receives nothing more ends the handshake")
    func halfOpen() throws {
        let server = try DTLSConnection(
            role: .server, certificate: #require(DTLSLink.serverCertificate),
            remoteFingerprints: [#require(DTLSLink.clientCertificate).fingerprint], now: .zero)
        let client = try connect(now: .zero)
        server.receive(try #require(client.pollTransmit()), now: .zero)
        while let deadline = server.nextDeadline {
            while server.pollTransmit() != nil {}
            server.advance(now: deadline)
        }
        #expect(server.state == .failed(.timedOut))
        #expect(server.pollEvent() == .failed(.timedOut))
        #expect(server.counters.timeouts == 12)
        // The number of datagrams that a half-open handshake sends to its address in total.
        #expect(server.counters.sent < 70)
    }

    @Test("the machine's clock does not matter", arguments: [Int64.min, -1, 0, 1 << 40, Int64.max - 1 << 40])
    func origins(nanoseconds: Int64) throws {
        let link = try DTLSLink(now: MonotonicInstant(nanoseconds: nanoseconds))
        link.run(until: \.isEstablished)
        #expect(link.isEstablished)
    }

    @Test("a time that goes back does no harm")
    func backwards() throws {
        let connection = try connect(now: MonotonicInstant(nanoseconds: 5_000_000_000))
        connection.receive(ByteBuffer(repeating: 22, count: 40), now: .zero)
        connection.advance(now: .zero)
        #expect(connection.state == .handshaking)
    }

    @Test("a held time is the calling thread's alone and ends with its release")
    func heldTime() {
        dtls_clock_hold(5_000_007)
        var held = timeval()
        gettimeofday(&held, nil)
        let other = Atomic(0)
        let isRead = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var time = timeval()
            gettimeofday(&time, nil)
            other.store(time.tv_sec, ordering: .relaxed)
            isRead.signal()
        }
        // This thread waits: a suspended task could go on in another one, and leave this one's clock held.
        isRead.wait()
        dtls_clock_release()
        var released = timeval()
        gettimeofday(&released, nil)
        #expect(held.tv_sec == 5 && held.tv_usec == 7)
        let century = 1_600_000_000...4_700_000_000
        #expect(century.contains(other.load(ordering: .relaxed)))
        #expect(century.contains(released.tv_sec))
    }

    private func connect(now: MonotonicInstant) throws -> DTLSConnection {
        try DTLSConnection(
            role: .client, certificate: #require(DTLSLink.clientCertificate),
            remoteFingerprints: [#require(DTLSLink.serverCertificate).fingerprint], now: now)
    }
}
