import Foundation
import Glibc
import H264
import MediaCore
import NIOCore
import RTP
import VideoCoding

/// Sends a clip over and over as plain RTP to several ports of this machine, a frame each thirtieth of a second, the
/// streams shifted against one another.
struct RTPLoad: Sendable {
    private let frames: [[[UInt8]]]
    private let ports: [UInt16]
    private let socket: UDPSocket

    private static let clockRate: UInt32 = 90_000
    private static let payloadType: UInt8 = 96
    private static let maximumPayloadSize = 1150

    init(clip: TestClip, ports: [UInt16]) throws {
        self.ports = ports
        socket = try UDPSocket()
        frames = try clip.samples.map { sample in
            let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: Self.maximumPayloadSize)
            return packetizer.packetize(try sample.nalUnits()).map { Array($0.readableBytesView) }
        }
    }

    func run() async throws {
        let interval = Duration.seconds(1) / Workload.frameRate
        let start = ContinuousClock.now
        var sequences = [UInt16](repeating: 0, count: ports.count)
        var tick = 0
        while !Task.isCancelled {
            for (stream, port) in ports.enumerated() {
                let due = start + interval * tick + interval * stream / ports.count
                try await Task.sleep(until: due, clock: .continuous)
                send(frame: tick, stream: stream, to: port, sequence: &sequences[stream])
            }
            tick += 1
        }
    }

    private func send(frame tick: Int, stream: Int, to port: UInt16, sequence: inout UInt16) {
        let payloads = frames[tick % frames.count]
        for (index, payload) in payloads.enumerated() {
            var packet = RTPPacket(
                payloadType: Self.payloadType, sequenceNumber: sequence,
                timestamp: UInt32(truncatingIfNeeded: tick) &* (Self.clockRate / UInt32(Workload.frameRate)),
                ssrc: UInt32(stream + 1), payload: ByteBuffer(bytes: payload))
            packet.marker = index == payloads.count - 1
            socket.send(Array(packet.encode().readableBytesView), to: port)
            sequence &+= 1
        }
    }
}

/// Counts the frames of RTP streams that come to ports of its own, by their markers.
struct RTPFrameCounter {
    private let sockets: [UDPSocket]
    let ports: [UInt16]

    init(streams: Int) throws {
        sockets = try (0..<streams).map { _ in try UDPSocket(receiveBufferSize: 4 << 20) }
        ports = try sockets.map { try $0.port() }
    }

    /// Returns the number of frames of each stream since the last call.
    func take() -> [Int] {
        sockets.map { socket in
            var frames = 0
            while let header = socket.receiveHeader() { if header & 0x80 != 0 { frames += 1 } }
            return frames
        }
    }
}

/// A UDP socket on loopback that never waits. A class, so that it closes with its last owner; the descriptor never
/// changes, and the system serves calls from any thread.
final class UDPSocket: Sendable {
    private let descriptor: Int32

    init(receiveBufferSize: Int32 = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw BenchmarkError.system(reason: "no UDP socket can be opened") }
        if receiveBufferSize > 0 {
            var size = receiveBufferSize
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = Self.loopback(port: 0)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw BenchmarkError.system(reason: "a UDP socket cannot be bound to loopback") }
    }

    deinit { close(descriptor) }

    /// A port that nobody has just now.
    static func freePort() throws -> UInt16 { try UDPSocket().port() }

    func port() throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0 else { throw BenchmarkError.system(reason: "a UDP socket does not tell its port") }
        return UInt16(bigEndian: address.sin_port)
    }

    func send(_ bytes: [UInt8], to port: UInt16) {
        var address = Self.loopback(port: port)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The second byte of the next datagram: RTP's marker and payload type; nil where none waits.
    func receiveHeader() -> UInt8? {
        var bytes: (UInt8, UInt8) = (0, 0)
        let count = recv(descriptor, &bytes, 2, Int32(MSG_TRUNC))
        return count >= 2 ? bytes.1 : nil
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}
