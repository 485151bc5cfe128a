import Foundation
import H264
import MediaCore
import NIOCore
import RTP
import SecureTransport

/// Sends clips over and over as SRTP to several ports of this machine, a frame each thirtieth of a second, the streams
/// shifted against one another.
struct RTPLoad: Sendable {
    /// A frame's payloads, and its number in the clip.
    private struct Frame {
        var number: Int
        var payloads: [ByteBuffer]
    }

    private let clips: [[Frame]]
    private let ports: [UInt16]
    private let keys: SRTPKeyMaterial
    private let log: FrameLog
    private let socket: UDPSocket

    private static let clockRate: UInt32 = 90_000
    private static let payloadType: UInt8 = 96
    private static let maximumPayloadSize = 1150

    /// - Parameter clips: The clips of the streams, as many as ports.
    init(clips: [TestClip], ports: [UInt16], keys: SRTPKeyMaterial, log: FrameLog) throws {
        self.ports = ports
        self.keys = keys
        self.log = log
        socket = try UDPSocket()
        let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: Self.maximumPayloadSize)
        self.clips = try clips.map { clip in
            try clip.samples.map { sample in
                Frame(number: TestClip.number(of: sample), payloads: packetizer.packetize(try sample.nalUnits()))
            }
        }
    }

    /// The synchronization source of a stream.
    static func source(of stream: Int) -> UInt32 { UInt32(stream + 1) }

    func run() async throws {
        let interval = Duration.seconds(1) / Workload.frameRate
        let start = ContinuousClock.now
        var streams = try ports.indices.map { try Stream(number: $0, keys: keys) }
        var tick = 0
        while !Task.isCancelled {
            for index in streams.indices {
                let due = start + interval * tick + interval * index / streams.count
                try await Task.sleep(until: due, clock: .continuous)
                try send(frame: tick, of: &streams[index])
            }
            tick += 1
        }
    }

    private func send(frame tick: Int, of stream: inout Stream) throws {
        let clip = clips[stream.number]
        let frame = clip[tick % clip.count]
        for (index, payload) in frame.payloads.enumerated() {
            var packet = RTPPacket(
                payloadType: Self.payloadType, sequenceNumber: stream.sequence,
                timestamp: UInt32(truncatingIfNeeded: tick) &* (Self.clockRate / UInt32(Workload.frameRate)),
                ssrc: Self.source(of: stream.number), payload: payload)
            packet.marker = index == frame.payloads.count - 1
            var datagram = packet.encode()
            try stream.context.protect(rtp: &datagram)
            socket.send(datagram, to: ports[stream.number])
            stream.sequence &+= 1
        }
        log.sent(FrameMark(sender: stream.number, number: frame.number), at: SystemMediaClock.shared.now)
    }

    /// One sender's stream.
    private struct Stream {
        let number: Int
        let context: SRTPContext
        var sequence: UInt16 = 0

        init(number: Int, keys: SRTPKeyMaterial) throws {
            self.number = number
            context = try SRTPContext(keys: keys, direction: .outbound)
        }
    }
}
