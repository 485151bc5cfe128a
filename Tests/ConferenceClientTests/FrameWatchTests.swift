import H264
import MediaCore
import NIOCore
import RTP
import Synchronization
import Testing
import VideoCoding

@testable import ConferenceClient

@Suite("Observation of frames")
struct FrameWatchTests {
    private final class Notes: FrameObserver {
        typealias Note = (frame: Int64, time: MonotonicInstant)

        private let notes = Mutex((sent: [Note](), received: [Note]()))

        var sent: [Note] { notes.withLock { $0.sent } }
        var received: [Note] { notes.withLock { $0.received } }

        func sent(_ sample: SampleBuffer, at time: MonotonicInstant) {
            notes.withLock { $0.sent.append((sample.presentationTime.value, time)) }
        }

        func received(_ sample: SampleBuffer, at time: MonotonicInstant) {
            notes.withLock { $0.received.append((sample.presentationTime.value, time)) }
        }
    }

    private func instant(_ milliseconds: Int) -> MonotonicInstant { .zero + .milliseconds(milliseconds) }

    private func packet(_ timestamp: UInt32, marker: Bool) -> ByteBuffer {
        var packet = RTPPacket(
            payloadType: 96, sequenceNumber: 1, timestamp: timestamp, ssrc: 7, payload: ByteBuffer(bytes: [1, 2, 3]))
        packet.marker = marker
        return packet.encode()
    }

    private func sample(_ time: Int64) throws -> SampleBuffer {
        let clip = try PreEncodedClip.make(
            name: "A", dimensions: VideoDimensions(width: 64, height: 64), frameRate: 1, bitRate: .kilobits(100),
            backEnd: .openH264, seconds: 1)
        var sample = try #require(clip.samples.first)
        sample.presentationTime = MediaTime(value: time, timescale: 90_000)
        return sample
    }

    @Test("a frame is sent when its last packet is flushed, and not again when that is repeated")
    func sending() throws {
        let notes = Notes()
        var watch = FrameWatch(notes)
        watch.queued(try sample(1), timestamp: 1000)
        watch.queued(try sample(2), timestamp: 4000)
        watch.written(packet(1000, marker: false))
        watch.flushed(at: instant(10))
        #expect(notes.sent.isEmpty)
        watch.written(packet(1000, marker: true))
        // Audio, and a report, whose second byte looks like a marker.
        watch.written(packet(77, marker: true))
        watch.written(ByteBuffer(bytes: [0x80, 200, 0, 1, 0, 0, 0x0F, 0xA0, 0, 0, 0, 0]))
        watch.flushed(at: instant(20))
        watch.written(packet(1000, marker: true))
        watch.flushed(at: instant(30))
        watch.written(packet(4000, marker: true))
        watch.flushed(at: instant(40))
        #expect(notes.sent.map(\.frame) == [1, 2])
        #expect(notes.sent.map(\.time) == [instant(20), instant(40)])
    }

    @Test("a received frame has the arrival of its last packet")
    func receiving() throws {
        let notes = Notes()
        var watch = FrameWatch(notes)
        watch.came(packet(UInt32.max, marker: false), at: instant(1))
        watch.came(packet(UInt32.max, marker: true), at: instant(2))
        // Timestamps of frames go on where those of packets wrap.
        watch.completed(try sample(Int64(UInt32.max) + (1 << 32)), lastArrival: instant(9))
        watch.completed(try sample(90_000), lastArrival: instant(12))
        #expect(notes.received.map(\.time) == [instant(2), instant(12)])
    }
}
