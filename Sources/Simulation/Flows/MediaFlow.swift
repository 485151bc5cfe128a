import CongestionControl
import LinkEmulation
import MediaCore
import NIOCore
import RTP
import SecureTransport

/// A sender of video and optional audio under a congestion controller, and its receiver: two peer connections, as in a
/// relay and its clients, over simulated links.
struct MediaFlow: SimulatedFlow {
    private enum Timer {
        static let frame = -1
        static let audio = -2
        static let stop = -3
        // From zero on: the events of the parameters.
    }

    /// The size that the headers of each datagram add on the links.
    static let datagramOverhead = DataSize.datagramHeaders(isIPv6: false)

    let number: Int
    private let parameters: MediaFlowParameters
    private let codec: any PictureCodec
    private let sender: MediaFlowSender
    private let receiver: MediaFlowReceiver
    private var recording: MediaFlowRecording
    private var packets = SimulatedMediaPackets()
    private var isFeedbackLost = false
    /// The error after which the codec cannot continue; nil if there is none.
    private(set) var codecFailure: PictureCodecError?

    init(
        number: Int, parameters: MediaFlowParameters, limits: RateLimits, controller: any CongestionController,
        codec: any PictureCodec, setting: MediaFlowRecording.Setting, seed: UInt64
    ) throws(PictureCodecError) {
        self.number = number
        self.parameters = parameters
        self.codec = codec
        let sessions = MediaFlowSessions(parameters)
        do throws(SRTPError) {
            sender = try MediaFlowSender(
                session: sessions.sender, parameters: parameters, limits: limits, controller: controller, seed: seed)
            receiver = try MediaFlowReceiver(session: sessions.receiver, parameters: parameters, seed: seed &+ 1)
        } catch {
            throw PictureCodecError(reason: "\(error)")
        }
        recording = MediaFlowRecording(setting: setting)
    }

    // MARK: Events

    mutating func begin(_ network: SimulatedNetwork) {
        let start = MonotonicInstant.zero + parameters.start
        for (index, item) in parameters.events.enumerated() {
            network.schedule(flow: number, tag: index, at: .zero + item.time)
        }
        network.schedule(flow: number, tag: Timer.frame, at: start)
        if parameters.audio != nil { network.schedule(flow: number, tag: Timer.audio, at: start) }
        if let stop = parameters.stop { network.schedule(flow: number, tag: Timer.stop, at: .zero + stop) }
        network.wake(flow: number, at: start)
    }

    mutating func timer(_ tag: Int, _ network: SimulatedNetwork) {
        let now = network.now
        switch tag {
        case Timer.frame:
            encodeFrame(now: now)
            network.schedule(flow: number, tag: Timer.frame, at: now + parameters.encoder.frameInterval)
        case Timer.audio:
            sender.sendAudio(now: now)
            network.schedule(flow: number, tag: Timer.audio, at: now + MediaFlowSender.audioInterval)
        case Timer.stop: sender.setSending(false, now: now)
        default: handle(parameters.events[tag].event, now: now)
        }
        network.wake(flow: number, at: now)
    }

    private mutating func handle(_ event: MediaFlowParameters.Event, now: MonotonicInstant) {
        switch event {
        case .keyframeRequest: sender.isKeyframeRequested = true
        case .contentChange(let factor): codec.contentChanged(factor: factor)
        case .feedbackLost(let isLost): isFeedbackLost = isLost
        case .sending(let isSending): sender.setSending(isSending && !hasStopped(now: now), now: now)
        case .applicationLimit(let limit): sender.applicationLimit = limit
        }
    }

    private func hasStopped(now: MonotonicInstant) -> Bool { parameters.stop.map { now >= .zero + $0 } ?? false }

    private mutating func encodeFrame(now: MonotonicInstant) {
        guard sender.isSending, codecFailure == nil else { return }
        do throws(PictureCodecError) {
            let frame = recording.nextFrame
            guard sender.hasRoomForVideo(now: now) else {
                recording.frameSkipped(now: now)
                return try codec.skipPicture()
            }
            let encoded = try codec.encode(
                frame: frame, at: now - .zero, target: sender.videoBitRate, isKeyframe: sender.isKeyframeRequested)
            guard let encoded, let timestamp = sender.send(encoded, now: now) else {
                recording.frameSkipped(now: now)
                return
            }
            recording.frameEncoded(now: now)
            packets.frameEncoded(frame, timestamp: timestamp)
        } catch {
            codecFailure = error
        }
    }

    mutating func wake(_ network: SimulatedNetwork) {
        let now = network.now
        guard now >= .zero + parameters.start else { return }
        receiver.wake(now: now)
        takeFrames(now: now)
        sendFeedback(network)
        sender.wake(now: now)
        sendMedia(network)
        network.wake(flow: number, at: min(sender.nextWakeUp(now: now), receiver.nextWakeUp(now: now)))
    }

    mutating func receive(_ packet: SimulatedPacket, _ network: SimulatedNetwork) {
        let now = network.now
        guard let media = packets.take(packet.detail) else { return }
        switch packet.direction {
        case .forward:
            if let kind = media.kind {
                recording.packetReceived(
                    size: packet.size, media: packets.received(kind), sendTime: packet.sendTime,
                    queueingDelay: packet.queueingDelay, isMarked: packet.ecn == .congestionExperienced, now: now)
            }
            receiver.receive(media.datagram, ecn: packet.ecn, now: now)
            takeFrames(now: now)
        case .backward:
            sender.receive(media.datagram, now: now)
        }
        network.wake(flow: number, at: now)
    }

    // MARK: Packets and frames

    private mutating func sendMedia(_ network: SimulatedNetwork) {
        while let datagram = sender.pollTransmit(now: network.now) {
            let media = packets.sent(datagram)
            let size = DataSize(bytes: datagram.readableBytes) + Self.datagramOverhead
            if let kind = media.kind {
                recording.packetSent(size: size, frame: packets.sending(kind), kind: kind.role, now: network.now)
            }
            network.send(
                SimulatedPacket(
                    flow: number, direction: .forward, size: size,
                    ecn: media.kind == nil ? .notCapable : parameters.ecn,
                    sendTime: network.now, detail: packets.put(media)))
        }
    }

    private mutating func sendFeedback(_ network: SimulatedNetwork) {
        while let datagram = receiver.pollTransmit(now: network.now) {
            guard !isFeedbackLost else { continue }
            let size = DataSize(bytes: datagram.readableBytes) + Self.datagramOverhead
            recording.feedbackSent(size: size, now: network.now)
            network.send(
                SimulatedPacket(
                    flow: number, direction: .backward, size: size, sendTime: network.now,
                    detail: packets.put(SimulatedMediaPacket(datagram: datagram))))
        }
    }

    /// Takes the frames that the receiver delivered.
    private mutating func takeFrames(now: MonotonicInstant) {
        while let sample = receiver.pollFrame() {
            guard codecFailure == nil, let frame = packets.frame(of: sample) else { continue }
            recording.frameDelivered(frame, now: now)
            do throws(PictureCodecError) {
                try codec.receive(sample, frame: frame)
            } catch {
                codecFailure = error
            }
        }
    }

    // MARK: Measurements

    mutating func sample(_ network: SimulatedNetwork) {
        let now = network.now
        let path = network.path(of: number).forward
        let from = recording.lastSample
        recording.sample(
            controller: sender.controllerSnapshot,
            capacity: network.capacity(of: path, from: from, to: now - .zero),
            isActive: sender.isSending && now - .zero > parameters.start,
            queueDelay: network.queueDelay(of: path), pacerDelay: sender.queueDelay(now: now), now: now)
    }

    func report() -> MediaFlowReport {
        var report = recording.report(keyframeCount: codec.keyframeCount)
        if let quality = codec.quality {
            report.metrics[.pictureNoise] = quality.psnr
            report.metrics[.pictureSimilarity] = quality.ssim
        }
        return report
    }

    /// Returns the report and the samples after the simulation.
    func result() -> (report: MediaFlowReport, samples: [FlowSample]) {
        (report(), recording.flowSamples)
    }

    var samples: [MediaFlowSample] { recording.samples }
}
