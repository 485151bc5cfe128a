import MediaCore
import Testing

@testable import RTP

struct JitterBufferPropertyTests {
    /// Sends packets over a path that loses, delays, reorders and duplicates them, answers requests after a round trip,
    /// and checks the output.
    @Test(arguments: Array(UInt64(0)..<8))
    func `over a bad path everything comes out once, in order and in time`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let start = UInt16.random(in: 60_000...65535, using: &generator)
        let packetCount = 6000
        let loss = Double.random(in: 0...0.2, using: &generator)
        var buffer = JitterBuffer()
        buffer.setRoundTripTime(.milliseconds(40))

        var arrivals: [Int64: [UInt16]] = [:]
        var accepted: Set<UInt16> = []
        var noticed: [UInt16: Int64] = [:]
        var released: [ReceivedPacket] = []
        var resent = 0
        for time in Int64(0)..<Int64(packetCount + 1000) {
            if time < packetCount {
                let sequenceNumber = start &+ UInt16(truncatingIfNeeded: time)
                // The first packet always arrives, since the stream starts with it.
                if time == 0 || Double.random(in: 0..<1, using: &generator) >= loss {
                    let delay = time == 0 ? 0 : 1 + Int64.random(in: 0...3, using: &generator)
                    arrivals[time + delay, default: []].append(sequenceNumber)
                    if Int.random(in: 0..<50, using: &generator) == 0 {
                        arrivals[time + delay + 2, default: []].append(sequenceNumber)
                    }
                }
            }
            for sequenceNumber in arrivals.removeValue(forKey: time) ?? [] {
                let result = buffer.insert(.numbered(sequenceNumber), now: .milliseconds(time))
                #expect(result != .overflow)
                if result == .inserted { #expect(accepted.insert(sequenceNumber).inserted) }
            }
            for packet in buffer.popReady(now: .milliseconds(time)) {
                // None waits for longer than the maximum delay.
                #expect(time - packet.arrival.milliseconds <= 400)
                released.append(packet)
            }
            for sequenceNumber in buffer.nacksDue(now: .milliseconds(time)) {
                if let last = noticed[sequenceNumber] { #expect(time - last >= 48) }
                noticed[sequenceNumber] = time
                resent += 1
                if Double.random(in: 0..<1, using: &generator) >= loss {
                    arrivals[time + 40, default: []].append(sequenceNumber)
                }
            }
            if let deadline = buffer.nextDeadline { #expect(deadline > .milliseconds(time)) }
        }
        #expect(zip(released, released.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
        #expect(Set(released.map(\.packet.sequenceNumber)) == accepted)
        #expect(released.count == accepted.count)
        #expect(buffer.count == 0)
        #expect(buffer.statistics.requested == Int64(resent))
        if let first = released.first, let last = released.last {
            let span = last.sequence - first.sequence + 1
            #expect(buffer.statistics.lost == span - Int64(released.count))
        }
        // Ten per cent lost on the way there and back, asked for seven times: next to nothing stays lost.
        #expect(released.count > packetCount * 99 / 100)
    }

    @Test func `any order of any sequence numbers keeps the output ascending and the buffer bounded`() {
        var generator = SeededGenerator(seed: 99)
        var buffer = JitterBuffer(configuration: .init(capacity: 64))
        var last = Int64.min
        var time: Int64 = 0
        for _ in 0..<30_000 {
            time += Int64.random(in: 0...20, using: &generator)
            let isWild = Int.random(in: 0..<20, using: &generator) == 0
            let near = UInt16(truncatingIfNeeded: max(last, 0)) &+ .random(in: 0...40, using: &generator) &- 10
            _ = buffer.insert(.numbered(isWild ? generator.integer() : near), now: .milliseconds(time))
            #expect(buffer.nacksDue(now: .milliseconds(time)).count <= 64)
            #expect(buffer.count <= 64)
            if Bool.random(using: &generator) {
                for packet in buffer.popReady(now: .milliseconds(time)) {
                    #expect(packet.sequence > last)
                    #expect(UInt16(truncatingIfNeeded: packet.sequence) == packet.packet.sequenceNumber)
                    last = packet.sequence
                }
            }
        }
        #expect(buffer.statistics.resets > 100)
    }
}
