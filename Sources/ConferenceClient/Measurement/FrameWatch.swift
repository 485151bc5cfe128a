import MediaCore
import NIOCore
import SecureTransport

/// Tells an observer when the last packets of a client's frames pass.
///
/// The headers of RTP packets, which SRTP leaves readable, show them: the last packet of a frame has the marker, and
/// the frame's timestamp.
struct FrameWatch {
    private let observer: any FrameObserver
    /// Frames whose last packets have not left yet, by timestamp.
    private var waiting: [UInt32: SampleBuffer] = [:]
    /// Frames whose last packets wait for the socket to be flushed.
    private var leaving: [SampleBuffer] = []
    private var arrivals: [UInt32: MonotonicInstant] = [:]

    /// Arrivals of frames that never become whole are forgotten beyond this number.
    private static let arrivalLimit = 256

    init(_ observer: any FrameObserver) {
        self.observer = observer
    }

    /// A frame was queued for sending, with this RTP timestamp.
    mutating func queued(_ sample: SampleBuffer, timestamp: UInt32) {
        waiting[timestamp] = sample
    }

    /// A datagram was written to the socket.
    mutating func written(_ datagram: ByteBuffer) {
        guard let timestamp = Self.markedTimestamp(datagram), let sample = waiting.removeValue(forKey: timestamp)
        else { return }
        leaving.append(sample)
    }

    /// The socket was flushed at `time`.
    mutating func flushed(at time: MonotonicInstant) {
        for sample in leaving { observer.sent(sample, at: time) }
        leaving.removeAll(keepingCapacity: true)
    }

    /// A datagram came, which the system received at `time`.
    mutating func came(_ datagram: ByteBuffer, at time: MonotonicInstant) {
        guard let timestamp = Self.markedTimestamp(datagram) else { return }
        if arrivals.count >= Self.arrivalLimit { arrivals.removeAll(keepingCapacity: true) }
        arrivals[timestamp] = time
    }

    /// A frame is whole; `lastArrival` is the time at which its last packet was read, if that had no marker.
    mutating func completed(_ sample: SampleBuffer, lastArrival: MonotonicInstant) {
        let timestamp = UInt32(truncatingIfNeeded: sample.presentationTime.value)
        observer.received(sample, at: arrivals.removeValue(forKey: timestamp) ?? lastArrival)
    }

    /// The timestamp of an RTP packet with the marker; nil for other datagrams.
    private static func markedTimestamp(_ datagram: ByteBuffer) -> UInt32? {
        guard DatagramKind.classify(datagram) == .rtp,
            let second: UInt8 = datagram.getInteger(at: datagram.readerIndex + 1), second & 0x80 != 0
        else { return nil }
        return datagram.getInteger(at: datagram.readerIndex + 4)
    }
}
