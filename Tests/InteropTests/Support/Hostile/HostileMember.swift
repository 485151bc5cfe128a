import CongestionControl
import Foundation
import FoundationNetworking
import Glibc
import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

/// A member of a room on real sockets that has valid keys and sends what a test chooses.
final class HostileMember {
    /// The values that a recipe may need.
    struct View: Sendable {
        /// The member's own source of video.
        var localSSRC: UInt32
        /// The stream that the relay sends.
        var remoteSSRC: UInt32
        var payloadType: UInt8
        /// The sequence number, for transport-wide feedback, of the newest packet that came.
        var newestSequence: UInt16

        /// Transport-wide feedback from this member.
        func feedback(
            base: UInt16? = nil, referenceTime: Int32, count: UInt8 = 0, packets: [PacketStatus]
        ) -> TransportFeedback {
            TransportFeedback(
                senderSSRC: localSSRC, mediaSSRC: remoteSSRC,
                baseSequence: base ?? packets.first?.sequence ?? newestSequence, referenceTime: referenceTime,
                feedbackCount: count, packets: packets)
        }
    }

    private let descriptor: CInt
    private let relay: TransportAddress
    private let media: NegotiatedMedia
    private let inbound: SRTPContext
    private let outbound: SRTPContext
    private let transportSequenceID: UInt8
    private var recorder: TransportFeedbackRecorder
    private(set) var view: View
    /// Packets that came and authenticated.
    private(set) var packetsReceived = 0

    /// Joins a room, with keys in the descriptions.
    init(relay program: RelayProgram, room: String, name: String) async throws {
        let loopback: UInt32 = 0x7f00_0001
        relay = TransportAddress(ipv4: loopback, port: program.port)
        descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        let local = try Self.bind(descriptor)
        var random = SystemRandomNumberGenerator()
        var parameters = OfferParameters(address: TransportAddress(ipv4: loopback, port: local))
        parameters.video = OfferParameters.Video()
        parameters.audio = nil
        let (offer, pending) = OfferAnswer.makeOffer(parameters, using: &random)
        var request = URLRequest(
            url: try #require(URL(string: program.url("/rooms/\(room)/participants?name=\(name)"))))
        request.httpMethod = "POST"
        request.setValue("application/sdp", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(offer.encode().utf8)
        let (body, response) = try await URLSession.shared.data(for: request)
        try #require((response as? HTTPURLResponse)?.statusCode == 201, "\(String(decoding: body, as: UTF8.self))")
        let answer = try SessionDescription(parsing: String(decoding: body, as: UTF8.self))
        media = try #require(try OfferAnswer.complete(pending: pending, answer: answer).video)
        let keys = try #require(media.keys)
        inbound = try SRTPContext(keys: keys.inbound, direction: .inbound)
        outbound = try SRTPContext(keys: keys.outbound, direction: .outbound)
        transportSequenceID = try #require(media.extensionIDs.transportSequenceNumber)
        recorder = TransportFeedbackRecorder(senderSSRC: media.localSSRC)
        view = View(
            localSSRC: media.localSSRC, remoteSSRC: media.remoteSSRCs.first ?? 0, payloadType: media.payloadType,
            newestSequence: 0)
    }

    deinit { close(descriptor) }

    /// Performs a recipe's steps, on a thread that may block.
    func follow(_ recipe: HostileRecipe) async throws {
        nonisolated(unsafe) let member = self
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            // The caller waits, so that one thread alone uses the member.
            DispatchQueue.global().async {
                continuation.resume(with: Result { for step in recipe.steps { try member.take(step) } })
            }
        }
    }

    private func take(_ step: HostileRecipe.Step) throws {
        switch step {
        case .takePart(let duration):
            try repeated(Int(clamping: duration.milliseconds), over: duration) { _ in try report() }
        case .control(let count, let duration, let packets):
            try repeated(count, over: duration) { try send(control: packets($0, view)) }
        case .video(let count, let duration, let packet):
            try repeated(count, over: duration) { index in
                var datagram = packet(index, view).encode()
                try outbound.protect(rtp: &datagram)
                send(datagram)
            }
        }
    }

    /// Calls `body` `count` times, evenly over `duration`, and receives packets in between.
    private func repeated(_ count: Int, over duration: Duration, _ body: (Int) throws -> Void) throws {
        let start = ContinuousClock.now
        for index in 0..<count {
            let due = start + duration * (Double(index) / Double(max(count, 1)))
            while ContinuousClock.now < due { usleep(200) }
            receive()
            try body(index)
        }
    }

    // MARK: Media

    private func receive() {
        var bytes = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { return }
            var datagram = ByteBuffer(bytes: bytes.prefix(count))
            guard DatagramKind.classify(datagram) == .rtp, (try? inbound.unprotect(rtp: &datagram)) != nil,
                let packet = try? RTPPacket(parsing: datagram)
            else { continue }
            packetsReceived += 1
            if packet.payloadType == media.payloadType { view.remoteSSRC = packet.ssrc }
            guard let sequence = packet.extensions.transportSequenceNumber(id: transportSequenceID) else { continue }
            view.newestSequence = sequence
            recorder.received(transportSequence: sequence, now: Self.now)
        }
    }

    private func report() throws {
        if packetsReceived == 0 {
            // Tells the relay this member's address.
            try send(control: [.receiverReport(ReceiverReport(ssrc: media.localSSRC))])
        }
        guard recorder.nextFeedbackTime <= Self.now else { return }
        for feedback in recorder.makeFeedback(mediaSSRC: view.remoteSSRC, now: Self.now) {
            try send(control: [.transportFeedback(feedback)])
        }
    }

    private func send(control packets: [RTCPPacket]) throws {
        var datagram = RTCPPacket.encode(packets)
        try outbound.protect(rtcp: &datagram)
        send(datagram)
    }

    // MARK: Sockets

    private func send(_ datagram: ByteBuffer) {
        var address = Self.address(port: relay.port)
        _ = datagram.withUnsafeReadableBytes { bytes in
            withUnsafeBytes(of: &address) { name in
                sendto(
                    descriptor, bytes.baseAddress, bytes.count, 0,
                    name.assumingMemoryBound(to: sockaddr.self).baseAddress,
                    socklen_t(name.count))
            }
        }
    }

    private static func bind(_ descriptor: CInt) throws -> UInt16 {
        var address = Self.address(port: 0)
        let code = withUnsafeMutableBytes(of: &address) { name in
            var size = socklen_t(name.count)
            let name = name.assumingMemoryBound(to: sockaddr.self).baseAddress
            return Glibc.bind(descriptor, name, size) | getsockname(descriptor, name, &size)
        }
        try #require(code == 0)
        return UInt16(bigEndian: address.sin_port)
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return address
    }

    private static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
    }
}
