import MediaCore
import MediaFixtures
import NIOCore
import OrderedCollections
import RTP
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Limits on the traffic that one member can make the relay receive.
@Suite struct ReceiveLimitTests {
    @Test("A member that floods the relay with RTCP is taken a second's worth of it", arguments: [true, false])
    func controlFlood(overDTLS: Bool) throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: overDTLS)
        let mallory = try call.join("Mallory", colour: .blue, overDTLS: overDTLS)
        call.run(for: .seconds(2))
        let (before, arrived) = (call.relay.snapshot(now: call.now).datagrams, ada.arrivals.count)
        let packets = 20_000
        for index in 0..<packets {
            // An authentic packet each time: reports are numbered.
            mallory.peer.sendReports(now: call.now)
            while let report = mallory.pollTransmit(now: call.now) { call.inject(report, from: mallory.address) }
            if index.isMultiple(of: packets / 20) { call.run(for: .milliseconds(50)) }
        }
        let after = call.relay.snapshot(now: call.now).datagrams
        #expect(after.rateLimited - before.rateLimited > UInt64(packets))
        #expect(after.accepted - before.accepted < 2500)
        #expect(ada.arrivals.count - arrived >= 13)
        let room = try #require(call.relay.snapshot(room: "demo", now: call.now))
        let uplinks = room.participants.map { ($0.name, $0.uplink.packetsRateLimited) }
        #expect(uplinks.first { $0.0 == "Ada" }?.1 == 0)
        #expect(uplinks.first { $0.0 == "Mallory" }?.1 == after.rateLimited)

        // A second later the member is taken as before.
        call.run(for: .seconds(2))
        let limited = call.relay.snapshot(now: call.now).datagrams.rateLimited
        call.run(for: .seconds(2))
        #expect(call.relay.snapshot(now: call.now).datagrams.rateLimited == limited)
        #expect(mallory.peer.connectionState == .connected)
    }

    @Test("A packet over its sender's limit is counted once, and no other member's keys are tried")
    func countedOnce() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        let mallory = try call.join("Mallory", colour: .blue, overDTLS: true)
        call.run(for: .seconds(2))
        let relayed = try #require(call.relay.participants.values.first { $0.publicID == ada.participantID })
        func tried() -> UInt64 { relayed.peer.statistics(now: call.now).counters.unauthenticatedPackets }
        let (before, triedBefore) = (call.relay.datagrams, tried())
        var sent: UInt64 = 0
        for _ in 0..<3000 {
            mallory.peer.sendReports(now: call.now)
            while let report = mallory.pollTransmit(now: call.now) {
                call.inject(report, from: mallory.address)
                sent += 1
            }
        }
        let after = call.relay.datagrams
        let limited = after.rateLimited - before.rateLimited
        #expect(limited > 1000)
        #expect(limited + after.accepted - before.accepted == sent)
        #expect(after.unknown == before.unknown && after.unauthenticated == before.unauthenticated)
        #expect(tried() == triedBefore)
    }

    @Test("Packets that do not authenticate use up no share, whatever address they come from")
    func forgedFlood() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        var recorded: [ByteBuffer] = []
        call.drops = { datagram, isDownlink, client in
            if !isDownlink, client === ada, DatagramKind.classify(datagram) == .rtp { recorded.append(datagram) }
            return false
        }
        call.run(for: .seconds(2))
        call.drops = { _, _, _ in false }
        // Replays fail, too.
        for index in 0..<20_000 { call.inject(recorded[index % recorded.count], from: ada.address) }
        let uplink = try #require(call.relay.snapshot(room: "demo", now: call.now)).participants[0].uplink
        #expect(uplink.packetsRateLimited == 0)
        call.run(for: .seconds(1))
        let after = try #require(call.relay.snapshot(room: "demo", now: call.now)).participants[0].uplink
        #expect(after.framesReceived - uplink.framesReceived >= 13)
    }

    @Test("A session's checks are answered 200 times a second, and its call goes on")
    func checks() throws {
        let call = VirtualCall()
        let mallory = try call.join("Mallory", colour: .blue, overDTLS: true)
        call.run(for: .seconds(2))
        var seed: UInt64 = 100
        func answered(of count: Int) throws -> UInt64 {
            let before = call.relay.datagrams.checks
            for _ in 0..<count {
                seed += 1
                call.inject(try mallory.makeCheck(seed: seed, now: call.now), from: mallory.address)
            }
            return call.relay.datagrams.checks - before
        }
        #expect(try answered(of: 1000) == 400)
        call.run(for: .seconds(1))
        #expect((190...200).contains(try answered(of: 1000)))
        // A client with many addresses checks 80 pairs five times a second until one is chosen.
        call.run(for: .seconds(3))
        var refused: UInt64 = 0
        for _ in 0..<5 {
            refused += 80 - (try answered(of: 80))
            call.run(for: .milliseconds(200))
        }
        #expect(refused == 0)
        let arrived = mallory.arrivals.count
        call.run(for: .seconds(40))
        #expect(mallory.connectionStates == [.connected])
        #expect(mallory.arrivals.count > arrived + 35)
    }

    @Test("50 Mbit/s of media and feedback with every frame stay below the limits")
    func honestMember() {
        let start = MonotonicInstant(nanoseconds: 1_000_000_000)
        var limiter = ReceiveLimiter()
        var dropped = 0
        func receive(_ bytes: Int, isControl: Bool, at now: MonotonicInstant) {
            let size = DataSize(bytes: bytes)
            if limiter.hasRoom(size, isControl: isControl, now: now) {
                limiter.charge(size, isControl: isControl, now: now)
            } else {
                dropped += 1
            }
        }
        for millisecond in 0..<10_000 {
            let now = start + .milliseconds(millisecond)
            for _ in 0..<5 { receive(1200, isControl: false, at: now) }
            if millisecond.isMultiple(of: 10) { receive(200, isControl: true, at: now) }
        }
        #expect(dropped == 0)
        // A keyframe of a megabyte comes at once.
        for _ in 0..<900 { receive(1200, isControl: false, at: start + .seconds(12)) }
        #expect(dropped == 0)
    }

    @Test("A packet from a relay with several links is tried with the keys of the link whose source it names")
    func linkOfPacket() throws {
        let pair = VirtualCascade(["a", "b"])
        let rooms = ["first", "second", "third"]
        for room in rooms {
            try pair[0].join("Ada", room: room, colour: .red, overDTLS: true)
            try pair[1].join("Ben", room: room, colour: .blue)
        }
        pair.run(for: .milliseconds(500))
        for room in rooms {
            try pair.link(1, 0, room: room)
            pair.run(for: .milliseconds(500))
        }
        pair.run(for: .seconds(2))
        let links = try rooms.map { try #require(pair.room(0, $0)?.links["b"]) }
        func unauthenticated() -> [UInt64] {
            links.map { $0.peer.statistics(now: pair.now).counters.unauthenticatedPackets }
        }
        func forge(ssrc: UInt32) {
            let reports = RTCPPacket.encode((0..<3).map { _ in .receiverReport(ReceiverReport(ssrc: ssrc)) })
            pair[0].inject(reports, from: pair.sites[1].address)
        }
        #expect(links.allSatisfy(\.isConnected) && unauthenticated() == [0, 0, 0])
        let before = pair[0].relay.datagrams
        forge(ssrc: 1)
        #expect(unauthenticated() == [0, 0, 0])
        #expect(pair[0].relay.datagrams.unknown == before.unknown + 1)
        forge(ssrc: try #require(links[1].incoming.values.first).ssrc)
        #expect(unauthenticated() == [0, 1, 0])
        #expect(pair[0].relay.datagrams.unauthenticated == before.unauthenticated + 1)
        // Each link's own packets, reports among them, find it.
        let heard = links.map { $0.peer.statistics(now: pair.now).counters.packetsReceived }
        pair.run(for: .seconds(8))
        #expect(unauthenticated() == [0, 1, 0] && links.allSatisfy { !$0.hasFailed(now: pair.now) })
        #expect(pair[0].relay.datagrams.unknown == before.unknown + 1)
        for (link, count) in zip(links, heard) {
            #expect(link.peer.statistics(now: pair.now).counters.packetsReceived > count + 100)
        }
    }

    @Test("A link is taken as much as its senders may send together, up to eight", arguments: [0, 1, 3, 20])
    func link(senders: Int) throws {
        let pair = VirtualCascade(["a", "b"])
        try pair[0].join("Ada", video: nil)
        try pair[1].join("Ben", video: nil, audio: .receiveOnly)
        try pair.link(1, 0)
        pair.run(for: .seconds(2))
        let link = try #require(pair.room(0)?.links["b"])
        var state = CascadeState()
        state.sequence = 1_000_000
        for sender in 0..<senders {
            // A camera and a microphone are one sender's.
            for (offset, content) in [CascadeSource.Content.camera, .audio].enumerated() {
                let number = 4 * sender + 2 * offset
                state.streams.append(
                    CascadeState.Stream(
                        source: CascadeSource(participant: "p\(sender)", content: content), line: number + 2,
                        ssrc: UInt32(1000 + number),
                        retransmissions: content == .audio ? nil : UInt32(1001 + number)))
            }
        }
        try pair[0].relay.receive(state, room: "demo", from: "b", link: link.name, now: pair.now)
        let size = DataSize(bytes: 1000)
        func taken(isControl: Bool) -> Int {
            var count = 0
            while link.limiter.hasRoom(size, isControl: isControl, now: pair.now) {
                link.limiter.charge(size, isControl: isControl, now: pair.now)
                count += 1
            }
            return count
        }
        #expect(taken(isControl: false) / min(senders + 1, 8) == 6000)
        // Reports refer to the one sender of this side, too.
        #expect(taken(isControl: true) / min(senders + 2, 8) == 500)
        pair.run(for: .milliseconds(100))
        #expect(taken(isControl: false) / min(senders + 1, 8) == 600)
    }
}
