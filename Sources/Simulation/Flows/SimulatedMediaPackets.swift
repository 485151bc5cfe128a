import MediaCore
import NIOCore

/// A datagram under way, and what it is.
struct SimulatedMediaPacket {
    var datagram: ByteBuffer
    /// Nil for RTCP.
    var kind: Kind?

    enum Kind {
        case audio
        case padding
        /// A packet of a frame: its number in the stream of video, and its RTP timestamp.
        case video(sequence: UInt16, timestamp: UInt32)
        /// The same once more, in the stream of retransmissions.
        case retransmission(sequence: UInt16, timestamp: UInt32)

        var role: Role {
            switch self {
            case .audio, .video: .media
            case .padding: .padding
            case .retransmission: .retransmission
            }
        }
    }

    enum Role {
        case media
        case padding
        case retransmission
    }

    init(datagram: ByteBuffer, kind: Kind? = nil) {
        self.datagram = datagram
        self.kind = kind
    }
}

/// Follows a flow's packets: which frame each belongs to, and which came for the first time.
struct SimulatedMediaPackets {
    /// The newest frames, whose RTP timestamps are remembered.
    private static let frameCount = 1024

    private var slots = MessageSlots<SimulatedMediaPacket>()
    /// The RTP timestamp of each of the newest frames; the frame `n` stands at `n` modulo their count.
    private var timestamps = [(frame: Int, timestamp: UInt32)](repeating: (-1, 0), count: frameCount)
    private var newest = 0
    /// The frame whose packet each number of the stream was last, when it was sent and when it came.
    private var sentFrames = [Int32](repeating: -1, count: 65_536)
    private var receivedFrames = [Int32](repeating: -1, count: 65_536)

    /// Keeps a packet that is under way and returns the number to fetch it by.
    mutating func put(_ packet: SimulatedMediaPacket) -> Int64 { slots.put(packet) }

    /// A packet that arrived; nil where its place was needed for others.
    mutating func take(_ number: Int64) -> SimulatedMediaPacket? { slots.take(number) }

    mutating func frameEncoded(_ frame: Int, timestamp: UInt32) {
        timestamps[frame % Self.frameCount] = (frame, timestamp)
        newest = frame
    }

    /// What a datagram of the sender's is: its packets are not encrypted.
    func sent(_ datagram: ByteBuffer) -> SimulatedMediaPacket {
        SimulatedMediaPacket(datagram: datagram, kind: Self.kind(of: datagram))
    }

    private static func kind(of datagram: ByteBuffer) -> SimulatedMediaPacket.Kind? {
        let start = datagram.readerIndex
        guard let first: UInt8 = datagram.getInteger(at: start), let second: UInt8 = datagram.getInteger(at: start + 1),
            let sequence: UInt16 = datagram.getInteger(at: start + 2),
            let timestamp: UInt32 = datagram.getInteger(at: start + 4)
        else { return nil }
        let isPadding = first & 0x20 != 0
        switch second & 0x7f {
        case MediaFlowSessions.PayloadType.audio: return .audio
        case MediaFlowSessions.PayloadType.video:
            return isPadding ? .padding : .video(sequence: sequence, timestamp: timestamp)
        case MediaFlowSessions.PayloadType.retransmission:
            guard !isPadding else { return .padding }
            var payload = start + 12 + 4 * Int(first & 0x0f)
            if first & 0x10 != 0 {
                guard let words: UInt16 = datagram.getInteger(at: payload + 2) else { return nil }
                payload += 4 + 4 * Int(words)
            }
            guard let original: UInt16 = datagram.getInteger(at: payload) else { return nil }
            return .retransmission(sequence: original, timestamp: timestamp)
        default: return nil
        }
    }

    /// The frame to which a packet adds as it leaves; nil where it belongs to none, or was sent before.
    mutating func sending(_ kind: SimulatedMediaPacket.Kind) -> Int? {
        guard case .video(let sequence, let timestamp) = kind, let frame = frame(timestamp: timestamp),
            sentFrames[Int(sequence)] != Int32(truncatingIfNeeded: frame)
        else { return nil }
        sentFrames[Int(sequence)] = Int32(truncatingIfNeeded: frame)
        return frame
    }

    /// What a packet that came adds: media that was missing, of a frame or of audio.
    mutating func received(_ kind: SimulatedMediaPacket.Kind) -> ReceivedMedia {
        switch kind {
        case .audio: return .audio
        case .padding: return .nothing
        case .video(let sequence, let timestamp), .retransmission(let sequence, let timestamp):
            guard let frame = frame(timestamp: timestamp),
                receivedFrames[Int(sequence)] != Int32(truncatingIfNeeded: frame)
            else { return .nothing }
            receivedFrames[Int(sequence)] = Int32(truncatingIfNeeded: frame)
            return .frame(frame)
        }
    }

    /// The number of the frame that came out of the receiver; nil where it is too old.
    func frame(of sample: SampleBuffer) -> Int? {
        frame(timestamp: UInt32(truncatingIfNeeded: sample.presentationTime.value))
    }

    private func frame(timestamp: UInt32) -> Int? {
        // Nearly all ask for one of the newest.
        for age in 0..<min(Self.frameCount, newest + 1) {
            let entry = timestamps[(newest - age) % Self.frameCount]
            if entry.timestamp == timestamp, entry.frame >= 0 { return entry.frame }
        }
        return nil
    }
}

/// What a packet was good for.
enum ReceivedMedia {
    /// Padding, or what had come before.
    case nothing
    case audio
    case frame(Int)
}
