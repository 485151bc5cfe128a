import MediaCore
import SecureTransport
import Testing

@testable import RelayServer

@Suite("Arrival times of datagrams")
struct DatagramArrivalClockTests {
    /// Returns when the kernel stamps datagrams: it begins a little after it was first asked to.
    private func awaitStamps(of arrivals: inout DatagramArrivalClock, _ receiver: UDPPeer, _ sender: UDPPeer) throws {
        let clock = SystemMediaClock.shared
        var isStamping = false
        for _ in 0..<500 where !isStamping {
            sender.send([0], toPort: receiver.address.port)
            let sent = clock.now
            while clock.now - sent < .milliseconds(2) {}
            _ = try #require(receiver.receive())
            isStamping = arrivals.arrival(now: clock.now) <= sent + .milliseconds(1)
        }
    }

    @Test("a datagram that is read late has its real arrival time, and the next one is not earlier")
    func late() throws {
        let (receiver, sender) = try (UDPPeer(), UDPPeer())
        var arrivals = DatagramArrivalClock(descriptor: receiver.descriptor)
        let clock = SystemMediaClock.shared
        try awaitStamps(of: &arrivals, receiver, sender)
        let before = clock.now
        sender.send([1], toPort: receiver.address.port)
        let sent = clock.now
        // The time itself is measured here.
        while clock.now - sent < .milliseconds(50) {}
        sender.send([2], toPort: receiver.address.port)
        _ = try #require(receiver.receive())
        let first = arrivals.arrival(now: clock.now)
        _ = try #require(receiver.receive())
        let second = arrivals.arrival(now: clock.now)
        // The wall clock may be steered meanwhile, by little.
        #expect(first >= before - .milliseconds(1))
        #expect(first <= sent + .milliseconds(20))
        #expect(second >= first + .milliseconds(20))
    }

    @Test("a datagram has not arrived before it was sent, though its reader is held up after looking at the clock")
    func heldUp() throws {
        let (receiver, sender) = try (UDPPeer(), UDPPeer())
        var arrivals = DatagramArrivalClock(descriptor: receiver.descriptor)
        let clock = SystemMediaClock.shared
        try awaitStamps(of: &arrivals, receiver, sender)
        let before = clock.now
        sender.send([1], toPort: receiver.address.port)
        _ = try #require(receiver.receive())
        let now = clock.now
        // The time itself is measured here.
        while clock.now - now < .milliseconds(30) {}
        let arrival = arrivals.arrival(now: now)
        // The wall clock may be steered meanwhile, by little.
        #expect(arrival >= before - .milliseconds(1) && arrival <= now)
    }

    @Test("without a datagram the present is taken")
    func none() throws {
        let receiver = try UDPPeer()
        var arrivals = DatagramArrivalClock(descriptor: receiver.descriptor)
        let now = SystemMediaClock.shared.now
        #expect(arrivals.arrival(now: now) == now)
    }
}
