import MediaCore
import NIOCore
import Testing

@testable import RTP

@Suite struct RedundancyTests {
    @Test("blocks come after their headers, the packet's own last")
    func bytes() throws {
        let payload = RedundantPayload(
            earlier: [
                .init(payloadType: 111, age: 1920, payload: ByteBuffer(string: "a")),
                .init(payloadType: 111, age: 960, payload: ByteBuffer(string: "bc")),
            ], payloadType: 111, payload: ByteBuffer(string: "def"))
        let bytes = payload.encode()
        // 1 | PT | timestamp offset (14) | length (10), then 0 | PT (RFC 2198, section 3).
        #expect(bytes == ByteBuffer(hex: "ef 1e0001 ef 0f0002 6f 61 6263 646566"))
        #expect(try RedundantPayload(parsing: bytes) == payload)
    }

    @Test(
        "truncated payloads are refused", arguments: ["", "ef", "ef1e00", "ef1e0001", "ef1e00016f", "ef1e0002 6f 61"])
    func truncated(bytes: String) {
        #expect(throws: RTPError.self) { try RedundantPayload(parsing: ByteBuffer(hex: bytes)) }
    }

    @Test("blocks that do not fit the format are left out")
    func unwritable() throws {
        var payload = RedundantPayload(
            earlier: [
                .init(payloadType: 111, age: 0x4000, payload: ByteBuffer(string: "old")),
                .init(payloadType: 111, age: 960, payload: ByteBuffer(repeating: 1, count: 1024)),
            ], payloadType: 111, payload: ByteBuffer(string: "new"))
        let parsed = try RedundantPayload(parsing: payload.encode())
        payload.earlier = []
        #expect(parsed == payload)
    }

    @Test("payloads of packets that did not come are taken from later ones, each once")
    func recovery() throws {
        var random = SeededGenerator(seed: 8)
        var sender = RedundancySender()
        var receiver = RedundancyReceiver()
        var delivered: [Int64: ByteBuffer] = [:]
        var sent: [ByteBuffer] = []
        for index in 0..<500 {
            let payload = random.bytes(Int.random(in: 1...60, using: &random))
            sent.append(payload)
            let timestamp = UInt32(index) * 960 &+ 4_294_900_000
            let redundant = sender.payload(payload, timestamp: timestamp, payloadType: 111, depth: 2)
            // Never three in a row, and not the first.
            guard index == 0 || index % 3 == 0 || Bool.random(using: &random) else { continue }
            var packet = RTPPacket(
                payloadType: 63, sequenceNumber: UInt16(index), timestamp: timestamp, ssrc: 1, payload: payload)
            var payloads: [RedundancyReceiver.Payload] = []
            if let redundant {
                packet.payload = redundant
                payloads = receiver.payloads(of: packet, sequence: Int64(index), payloadType: 111)
            } else if receiver.record(sequence: Int64(index)) {
                payloads = [.init(payload: payload, timestamp: timestamp, sequence: Int64(index))]
            }
            for payload in payloads {
                #expect(payload.timestamp == UInt32(payload.sequence) * 960 &+ 4_294_900_000)
                #expect(delivered.updateValue(payload.payload, forKey: payload.sequence) == nil)
            }
        }
        for (index, payload) in sent.dropLast(3).enumerated() { #expect(delivered[Int64(index)] == payload) }
        #expect(receiver.usedCount > 100)
    }

    @Test("a packet that comes after its payload was taken from another is not given again")
    func late() {
        var sender = RedundancySender()
        var receiver = RedundancyReceiver()
        let first = ByteBuffer(string: "first")
        let isFirstNew = receiver.record(sequence: 9)
        #expect(isFirstNew)
        #expect(sender.payload(first, timestamp: 960, payloadType: 111, depth: 1) == nil)
        let payload = sender.payload(ByteBuffer(string: "second"), timestamp: 1920, payloadType: 111, depth: 1)
        let packet = RTPPacket(
            payloadType: 63, sequenceNumber: 11, timestamp: 1920, ssrc: 1, payload: payload ?? ByteBuffer())
        #expect(receiver.payloads(of: packet, sequence: 11, payloadType: 111).map(\.sequence) == [10, 11])
        let isNew = receiver.record(sequence: 10)
        #expect(!isNew)
        #expect(receiver.payloads(of: packet, sequence: 11, payloadType: 111).isEmpty)
    }

    @Test("nothing is repeated after a pause, or with a depth of zero")
    func pause() {
        var sender = RedundancySender()
        let payload = ByteBuffer(string: "x")
        #expect(sender.payload(payload, timestamp: 0, payloadType: 111, depth: 2) == nil)
        #expect(sender.payload(payload, timestamp: 960, payloadType: 111, depth: 0) == nil)
        #expect(sender.payload(payload, timestamp: 48_000, payloadType: 111, depth: 2) == nil)
        #expect(sender.payload(payload, timestamp: 48_960, payloadType: 111, depth: 1) != nil)
    }

    @Test("malformed packets neither trap nor give other payload types")
    func mutations() {
        var random = SeededGenerator(seed: 21)
        var receiver = RedundancyReceiver()
        let whole = RedundantPayload(
            earlier: [
                .init(payloadType: 111, age: 1920, payload: random.bytes(40)),
                .init(payloadType: 111, age: 960, payload: random.bytes(30)),
            ], payloadType: 111, payload: random.bytes(50)
        ).encode()
        for index in 0..<5000 {
            let packet = RTPPacket(
                payloadType: 63, sequenceNumber: 0, timestamp: random.integer(), ssrc: 1,
                payload: random.mutate(whole))
            _ = receiver.payloads(
                of: packet, sequence: Int64(index) * Int64.random(in: -3...3, using: &random), payloadType: 111)
        }
        #expect(receiver.malformedCount > 500)
    }

    @Test("audio is repeated from a loss of a tenth on, twice where much is lost or in a row")
    func policy() {
        var policy = RedundancyPolicy()
        var now = MonotonicInstant.milliseconds(1000)
        func depth(_ loss: Double, burst: Double = 1) -> Int {
            now += .seconds(1)
            policy.update(fractionLost: loss, meanBurst: burst, now: now)
            return policy.depth
        }
        #expect(depth(0.09) == 0)
        #expect(depth(0.1) == 1)
        #expect(depth(0.06) == 1)
        #expect(depth(0.25) == 2)
        #expect(depth(0) == 2)
        now += .seconds(5)
        #expect(depth(0.06) == 1)
        now += .seconds(5)
        #expect(depth(0.01) == 0)
        #expect(depth(0.12, burst: 2.5) == 2)
    }
}
