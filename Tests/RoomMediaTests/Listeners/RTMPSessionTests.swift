import MediaCore
import NIOCore
import Testing

@testable import RoomMedia

/// A publisher's connection by RTMP, byte by byte.
@Suite struct RTMPSessionTests {
    private func media(_ events: [RTMPSession.Event]) -> [UInt8] {
        events.reduce(into: []) { bytes, event in
            if case .media(let part) = event { bytes += Array(part.readableBytesView) }
        }
    }

    /// A session that publishes, with its publisher.
    private func publishing() throws -> (RTMPSession, RTMPPublisher) {
        var (session, publisher) = (RTMPSession(), RTMPPublisher())
        publisher.publish("demo", key: "Studio")
        let events = try session.receive(publisher.take())
        #expect(events.last == .publish(application: "demo", key: "Studio"))
        #expect(try !session.accept().isEmpty)
        return (session, publisher)
    }

    @Test("a publisher is asked for its room and key, however its bytes are cut", arguments: [1, 7, 1000, 100_000])
    func publish(pieceSize: Int) throws {
        var (session, publisher) = (RTMPSession(), RTMPPublisher())
        publisher.publish("live/demo", key: "ab.cd-ef")
        var bytes = publisher.take()
        var events: [RTMPSession.Event] = []
        while let piece = bytes.readSlice(length: min(pieceSize, bytes.readableBytes)), piece.readableBytes > 0 {
            events += try session.receive(piece)
        }
        let asked = events.filter { if case .publish = $0 { true } else { false } }
        #expect(asked == [.publish(application: "live/demo", key: "ab.cd-ef")])
        guard case .send(let hello)? = events.first else {
            Issue.record("no answer")
            return
        }
        #expect(hello.readableBytes == 1 + 2 * 1536)
        #expect(Array(hello.readableBytesView.suffix(1536)) == (0..<1536).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test("a key as long as the longest token is told whole")
    func longKey() throws {
        let key = String(repeating: "k", count: 4096)
        var (session, publisher) = (RTMPSession(), RTMPPublisher())
        publisher.publish("demo", key: key)
        #expect(try session.receive(publisher.take()).last == .publish(application: "demo", key: key))
    }

    @Test("audio and video are passed on as an FLV file has them, with times beyond four hours")
    func passedOn() throws {
        var (session, publisher) = try publishing()
        publisher.setChunkSize(1000)
        publisher.message(9, ByteBuffer(bytes: [1, 2, 3]), at: 40, stream: 1, chunkStream: 6)
        publisher.message(8, ByteBuffer(bytes: [4]), at: 0x0123_4567, stream: 1, chunkStream: 4)
        let bytes = media(try session.receive(publisher.take()))
        let header: [UInt8] = [0x46, 0x4C, 0x56, 1, 0, 0, 0, 0, 9, 0, 0, 0, 0]
        let video: [UInt8] = [9, 0, 0, 3, 0, 0, 40, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 14]
        let audio: [UInt8] = [8, 0, 0, 1, 0x23, 0x45, 0x67, 0x01, 0, 0, 0, 4, 0, 0, 0, 12]
        #expect(bytes == header + video + audio)
    }

    @Test(
        "messages of several chunk streams may be interleaved, and long ones come whole", arguments: [64, 128, 65_536])
    func chunks(size: Int) throws {
        var (session, publisher) = try publishing()
        publisher.setChunkSize(size)
        let picture = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        publisher.message(9, ByteBuffer(bytes: picture), at: 5, stream: 1, chunkStream: 6)
        let bytes = media(try session.receive(publisher.take()))
        #expect(Array(bytes.dropFirst(13 + 11).dropLast(4)) == picture)
    }

    @Test("metadata lose the name of the command that brings them")
    func metadata() throws {
        var (session, publisher) = try publishing()
        var payload = ByteBuffer()
        for value in [AMFValue.string("@setDataFrame"), .string("onMetaData")] { value.write(to: &payload) }
        publisher.message(18, payload, stream: 1)
        let bytes = media(try session.receive(publisher.take()))
        var expected = ByteBuffer()
        AMFValue.string("onMetaData").write(to: &expected)
        #expect(Array(bytes.dropFirst(13 + 11).dropLast(4)) == Array(expected.readableBytesView))
    }

    @Test("nothing is passed on before the relay accepts, nor after it refuses or the publisher ends")
    func phases() throws {
        var (session, publisher) = (RTMPSession(), RTMPPublisher())
        publisher.publish("demo", key: "Studio")
        _ = try session.receive(publisher.take())
        publisher.message(9, ByteBuffer(bytes: [1]), stream: 1)
        #expect(media(try session.receive(publisher.take())).isEmpty)
        var refused = session
        guard case .send(let answer)? = refused.refuse("there is no room").first else {
            Issue.record("no answer")
            return
        }
        #expect(String(decoding: answer.readableBytesView, as: UTF8.self).contains("there is no room"))
        publisher.message(9, ByteBuffer(bytes: [1]), stream: 1)
        #expect(media(try refused.receive(publisher.take())).isEmpty)
        _ = try session.accept()
        publisher.command([.string("FCUnpublish"), .number(6), .null, .string("Studio")])
        publisher.message(9, ByteBuffer(bytes: [1]), stream: 1)
        let events = try session.receive(publisher.take())
        #expect(events.contains(.end) && media(events).isEmpty)
    }

    @Test("what a publisher sends without waiting for the answer is passed on once the relay accepts")
    func early() throws {
        var (session, publisher) = (RTMPSession(), RTMPPublisher())
        publisher.publish("demo", key: "Studio")
        publisher.message(9, ByteBuffer(bytes: [1, 2, 3]), stream: 1)
        #expect(media(try session.receive(publisher.take())).isEmpty)
        publisher.message(9, ByteBuffer(repeating: 4, count: 100_000), stream: 1)
        #expect(media(try session.receive(publisher.take())).isEmpty)
        let events = try session.accept()
        guard case .send(let answer)? = events.first else {
            Issue.record("no answer")
            return
        }
        #expect(String(decoding: answer.readableBytesView, as: UTF8.self).contains("NetStream.Publish.Start"))
        let bytes = media(events)
        #expect(Array(bytes.dropFirst(13 + 11).prefix(3)) == [1, 2, 3])
        #expect(bytes.count == 13 + (11 + 3 + 4) + (11 + 100_000 + 4))
    }

    @Test("a publisher that sends on and on without waiting for the answer is an error")
    func tooEarly() throws {
        var (session, publisher) = (RTMPSession(), RTMPPublisher())
        publisher.publish("demo", key: "Studio")
        _ = try session.receive(publisher.take())
        publisher.setChunkSize(65_536)
        publisher.message(9, ByteBuffer(repeating: 4, count: 600_000), stream: 1)
        #expect(throws: RTMPError.self) { _ = try session.receive(publisher.take()) }
    }

    @Test("what is received is acknowledged")
    func acknowledged() throws {
        var (session, publisher) = try publishing()
        publisher.setChunkSize(65_536)
        publisher.message(9, ByteBuffer(repeating: 1, count: 2_000_000), stream: 1)
        let events = try session.receive(publisher.take())
        let sent = events.compactMap { event -> UInt8? in
            if case .send(let bytes) = event { bytes.getInteger(at: bytes.readerIndex + 7) } else { nil }
        }
        #expect(sent == [3])
    }

    @Test(
        "what is not RTMP, or too large, is an error",
        arguments: [
            [0x47, 0x45, 0x54, 0x20], [3] + Array(repeating: 0, count: 3072) + [0xC3],
            // A message of 16 MiB, and a chunk size of zero.
            [3] + Array(repeating: 0, count: 3072) + [3, 0, 0, 0, 0xFF, 0xFF, 0xFF, 9, 0, 0, 0, 0],
            [3] + Array(repeating: 0, count: 3072) + [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            // A command that is none.
            [3] + Array(repeating: 0, count: 3072) + [3, 0, 0, 0, 0, 0, 1, 20, 0, 0, 0, 0, 0xFF],
        ] as [[UInt8]])
    func wrong(bytes: [UInt8]) {
        var session = RTMPSession()
        #expect(throws: RTMPError.self) { try session.receive(ByteBuffer(bytes: bytes)) }
    }

    @Test("the messages of a client that has shown no key are small, and so is what it leaves incomplete")
    func strangers() throws {
        let greeted = { () throws in
            var (session, publisher) = (RTMPSession(), RTMPPublisher())
            publisher.hello()
            publisher.echo()
            publisher.setChunkSize(32_768)
            _ = try session.receive(publisher.take())
            return (session, publisher)
        }
        var (session, publisher) = try greeted()
        publisher.message(9, ByteBuffer(repeating: 1, count: 65_537), chunkStream: 6)
        #expect(throws: RTMPError.self) { try session.receive(publisher.take()) }
        (session, publisher) = try greeted()
        #expect(throws: RTMPError.self) {
            for chunkStream in 4..<12 as Range<UInt8> {
                publisher.message(9, ByteBuffer(repeating: 1, count: 65_536), chunkStream: chunkStream)
                // Without its last chunk.
                _ = try session.receive(ByteBuffer(publisher.take().readableBytesView.dropLast(32_769)))
            }
        }
    }

    @Test("a publisher that asks on and on, whose answers may pile up, is an error")
    func commands() throws {
        var (session, publisher) = try publishing()
        for _ in 0..<10 { publisher.command([.string("createStream"), .number(4), .null]) }
        #expect(try session.receive(publisher.take()).count == 10)
        for _ in 0..<100 { publisher.command([.string("createStream"), .number(4), .null]) }
        #expect(throws: RTMPError.self) { try session.receive(publisher.take()) }
    }

    @Test("damaged bytes never do harm", arguments: 0..<200 as Range<UInt64>)
    func damaged(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (session, publisher) = (RTMPSession(), RTMPPublisher())
        publisher.publish("demo", key: "Studio")
        for index in 0..<20 as Range<UInt32> {
            publisher.message(
                index % 3 == 0 ? 8 : 9,
                ByteBuffer(repeating: UInt8(index), count: Int.random(in: 0...700, using: &random)),
                at: index * 40, stream: 1, chunkStream: UInt8(4 + index % 3))
        }
        var bytes = Array(publisher.take().readableBytesView)
        for _ in 0..<Int.random(in: 1...30, using: &random) {
            // The handshake is not looked at.
            bytes[Int.random(in: 3073..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
        }
        var rest = ByteBuffer(bytes: bytes)
        var passedOn = 0
        while let piece = rest.readSlice(length: min(Int.random(in: 1...900, using: &random), rest.readableBytes)),
            piece.readableBytes > 0
        {
            guard var events = try? session.receive(piece) else { return }
            if events.contains(where: { if case .publish = $0 { true } else { false } }) {
                guard let accepted = try? session.accept() else { return }
                events += accepted
            }
            passedOn += media(events).count
        }
        #expect(passedOn <= bytes.count * 2)
    }
}
