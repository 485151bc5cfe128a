import MediaCore
import NIOCore

/// A datagram under way, with its kind.
struct SimulatedMediaPacket {
    var datagram: ByteBuffer
    /// The kind of media packet; nil for RTCP.
    var kind: Kind?

    enum Kind {
        case audio
        case padding
        /// A packet of a frame, with its sequence number in the video stream and its RTP timestamp.
        case video(sequence: UInt16, timestamp: UInt32)
        /// A retransmitted packet of a frame, with the numbers of the original.
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
}

/// Follows a flow's packets: finds the frame of each packet, and detects repeated packets.
struct SimulatedMediaPackets {
    /// The number of newest frames whose RTP timestamps are kept.
    private static let frameCount = 1024

    private var slots = MessageSlots<SimulatedMediaPacket>()
    /// The RTP timestamps of the newest frames. The frame `n` is at index `n` modulo their count.
    private var timestamps = [(frame: Int, timestamp: UInt32)](repeating: (-1, 0), count: frameCount)
    private var newest = 0
    /// The frame of the last packet with each sequence number, when sent; `receivedFrames` has the same for arrivals.
    private var sentFrames = [Int32](repeating: -1, count: 65_536)
    private var receivedFrames = [Int32](repeating: -1, count: 65_536)

    /// Stores a packet that is under way and returns the number with which to fetch it.
    mutating func put(_ packet: SimulatedMediaPacket) -> Int64 { slots.put(packet) }

    /// Returns a packet that arrived; nil if it was overwritten.
    mutating func take(_ number: Int64) -> SimulatedMediaPacket? { slots.take(number) }

    mutating func frameEncoded(_ frame: Int, timestamp: UInt32) {
        timestamps[frame % Self.frameCount] = (frame, timestamp)
        newest = frame
    }

    /// Classifies a datagram of the sender, whose packets are not encrypted.
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

    /// Returns the frame of a packet that is being sent; nil if it belongs to none, or was sent before.
    mutating func sending(_ kind: SimulatedMediaPacket.Kind) -> Int? {
        guard case .video(let sequence, let timestamp) = kind, let frame = frame(timestamp: timestamp),
            sentFrames[Int(sequence)] != Int32(truncatingIfNeeded: frame)
        else { return nil }
        sentFrames[Int(sequence)] = Int32(truncatingIfNeeded: frame)
        return frame
    }

    /// Returns the new media in an arrived packet: a part of a frame, audio, or nothing.
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

    /// Returns the number of a frame that the receiver delivered; nil if it is too old.
    func frame(of sample: SampleBuffer) -> Int? {
        frame(timestamp: UInt32(truncatingIfNeeded: sample.presentationTime.value))
    }

    private func frame(timestamp: UInt32) -> Int? {
        // Nearly all calls look for one of the newest frames.
        for age in 0..<min(Self.frameCount, newest + 1) {
            let entry = timestamps[(newest - age) % Self.frameCount]
            if entry.timestamp == timestamp, entry.frame >= 0 { return entry.frame }
        }
        return nil
    }
}

/// The new media that a packet brought.
enum ReceivedMedia {
    /// The packet is padding, or media that had arrived before.
    case nothing
    case audio
    case frame(Int)
}
