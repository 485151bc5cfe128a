import H264
import MediaCore
import NIOCore
import RateControl
import SecureTransport
import VideoCoding

@testable import Conference
@testable import NetworkSimulation

/// Receivers with real controllers, pacers, feedback and repair, each on a link of its own, and encoders of which only the sizes of
/// frames are known. Who shares an encoder, who is sent which frame, and when keyframes come is the relay's own code.
final class ModelledRoom {
    static let frameRate = 30
    private static let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .kilobits(2500))

    private struct Encoder {
        var rate: BitRate
        var isShared: Bool
        var keyFrames = KeyFrameSchedule()
        var count = 0
        /// This tick's.
        var frame: EncodeStatistics?
    }

    private struct Receiver {
        var downlink: DownlinkPipeline
        var budget = SendBudget()
        /// The targets of the last ticks: a controller lowers its own for a frame to drain a queue.
        var targets: [BitRate] = []
        var asksForKeyFrame = false
        /// The group whose frame it is sent at this tick.
        var receives: EncodeGroupID?
    }

    private let budget: Int?
    private var planner = EncodeGroupPlanner(hasLayers: true)
    private var receivers: [Receiver] = []
    private var encoders: [EncodeGroupID: Encoder] = [:]
    private var random = SeededGenerator(seed: 11)
    private var tick = Duration.milliseconds(-1)
    private var lastPlan = MonotonicInstant.zero
    private(set) var mostEncoders = 0
    private(set) var keyFrameSize = DataSize.zero
    private(set) var size = DataSize.zero
    private let rung = EncodeRung(
        dimensions: VideoDimensions(width: 1280, height: 720), roomFrameRate: ModelledRoom.frameRate)
    private let units = ModelledUnits()

    /// - Parameter budget: The most encoders; nil for one for each.
    init(budget: Int?) {
        self.budget = budget
    }

    var moves: UInt64 { planner.moves }
    var keyFrameShare: Double { Double(keyFrameSize.bytes) / Double(max(1, size.bytes)) }

    /// Runs a call and returns what each receiver got.
    func run(links: [LinkProfile], for duration: Duration) -> [MediaFlowReport] {
        let network = SimulatedNetwork(sampleInterval: .milliseconds(100))
        var flows: [(Attached<MediaFlow>, Int)] = []
        for (index, profile) in links.enumerated() {
            let seed = UInt64(index * 3 + 1)
            let link = network.addLink(profile, seed: seed)
            let back = network.addLink(LinkProfile(rate: .unlimited, delay: profile.delay), seed: seed + 1)
            var parameters = MediaFlowParameters(
                encoder: EncoderModel.Configuration(
                    frameRate: Self.frameRate, minimum: .kilobits(50), maximum: Self.limits.maximum))
            parameters.maximumPacerDelay = .milliseconds(120)
            let flow = MediaFlow(
                number: network.nextFlow, parameters: parameters,
                controller: ConfrelayCongestionController(limits: Self.limits, now: .zero),
                codec: Seat(room: self, index: index),
                setting: MediaFlowRecording.Setting(
                    duration: duration, sampleInterval: .milliseconds(100), maximum: Self.limits.maximum),
                seed: seed + 2)
            receivers.append(
                Receiver(
                    downlink: DownlinkPipeline(
                        format: EncodeFormat(dimensions: rung.dimensions, properties: CompressionProperties()),
                        bitRate: Self.limits.start)))
            flows.append((network.addFlow(flow, path: NetworkPath(forward: [link], backward: [back])), link))
        }
        network.run(until: .zero + duration)
        return flows.map { $0.flow.report(link: network.statistics(of: $1)) }
    }

    // MARK: Ticks

    private func begin(_ time: Duration) {
        guard time > tick else { return }
        tick = time
        let now = MonotonicInstant.zero + time
        if now - lastPlan >= .milliseconds(100) || planner.groups.isEmpty {
            lastPlan = now
            planner.update(plannedReceivers(now: now), budget: budget, now: now)
        }
        for index in receivers.indices {
            guard let group = planner.group(of: id(index)) else { continue }
            receivers[index].downlink.assign(to: group, now: now)
        }
        let followed = Set(receivers.compactMap(\.downlink.source))
        encoders = encoders.filter { id, _ in followed.contains(id) || planner.groups.contains { $0.id == id } }
        for group in planner.groups {
            let isShared =
                group.members.count > 1
                || receivers.indices.contains {
                    receivers[$0].downlink.source == group.id && !group.members.contains(id($0))
                }
            encoders[group.id, default: Encoder(rate: group.rate, isShared: isShared)].rate = group.rate
            encoders[group.id]?.isShared = isShared
        }
        for id in encoders.keys.sorted() { encode(id, now: now) }
        mostEncoders = max(mostEncoders, encoders.values.count { $0.frame != nil })
    }

    private func plannedReceivers(now: MonotonicInstant) -> [EncodeGroupPlanner.Receiver] {
        receivers.indices.map { index in
            EncodeGroupPlanner.Receiver(
                id: id(index), picture: 0, format: 0,
                target: receivers[index].downlink.dependableRate(now: now),
                wantsIsolation: receivers[index].downlink.keyFrameAllowance.isExceeded(now: now))
        }
    }

    private func id(_ index: Int) -> ParticipantID { ParticipantID(rawValue: UInt64(index + 1)) }

    private func encode(_ id: EncodeGroupID, now: MonotonicInstant) {
        guard var encoder = encoders[id] else { return }
        defer { encoders[id] = encoder }
        encoder.frame = nil
        var hasRoom = false
        var bound: DataSize?
        for index in receivers.indices {
            let backlog = receivers[index].budget.backlog(adding: .zero, now: now)
            let rate = receivers[index].downlink.bitRate.sustained
            guard receivers[index].budget.hasRoom(now: now) else { continue }
            if receivers[index].downlink.source == id {
                if receivers[index].asksForKeyFrame { encoder.keyFrames.request() }
                receivers[index].asksForKeyFrame = false
                guard !encoder.isShared || backlog <= .milliseconds(120) else { continue }
            } else if receivers[index].downlink.group == id,
                receivers[index].downlink.mayAskForSwitch(toSharedAt: encoder.isShared ? encoder.rate : nil, now: now)
            {
                encoder.keyFrames.request()
            } else {
                continue
            }
            hasRoom = true
            let size =
                encoder.isShared
                ? FrameBound.sharedKeyFrame(slowest: rate, frameRate: rung.frameRate)
                : FrameBound.keyFrame(rate: rate, backlog: backlog, frameRate: rung.frameRate)
            if !encoder.isShared || rate >= encoder.rate * DownlinkPipeline.leastShare {
                bound = min(bound ?? size, size)
            }
        }
        guard hasRoom else { return }
        let policy = encoder.isShared ? KeyFrameSchedule.Policy.shared(share: 0.05) : .dedicated
        let share = Double(encoder.rate.bitsPerSecond) / 8 / Double(Self.frameRate)
        let noise = Double.random(in: 0.85...1.15, using: &random)
        if encoder.keyFrames.isDue(policy, now: now) {
            encoder.keyFrames.begin(now: now)
            let wanted = DataSize(bytes: share * 6 * noise)
            let made = max(FrameBound.least(rung.dimensions), min(wanted, bound ?? wanted))
            encoder.keyFrames.end(size: made, rate: encoder.rate, now: now)
            encoder.frame = EncodeStatistics(type: .idr, size: made)
            encoder.count = 0
            keyFrameSize += made
        } else {
            encoder.count += 1
            // OpenH264 spends about 60 % on the lower layer; and what a keyframe took is saved on what follows.
            let isUpper = encoder.isShared && !encoder.count.isMultiple(of: 2)
            let layer = encoder.isShared ? (isUpper ? 0.8 : 1.2) : 1
            let saving = encoder.count < 30 ? 0.85 : 1
            encoder.frame = EncodeStatistics(
                type: .p, size: DataSize(bytes: share * layer * noise * saving), isReference: !isUpper)
        }
        if let frame = encoder.frame { size += frame.size }
    }

    // MARK: Seats

    fileprivate func frame(for index: Int, at time: Duration, target: BitRate, asksForKeyFrame: Bool) -> [NALUnit]? {
        let now = MonotonicInstant.zero + time
        begin(time)
        var rates = receivers[index].targets.suffix(2)
        rates.append(target)
        receivers[index].targets = Array(rates)
        let sustained = rates.max() ?? target
        receivers[index].downlink.bitRate = VideoBitRate(target: target, sustained: sustained)
        receivers[index].budget.setRate(sustained, now: now)
        if asksForKeyFrame { ask(index, now: now) }
        return take(index, canSend: true, now: now)
    }

    fileprivate func skip(_ index: Int) {
        _ = take(index, canSend: false, now: .zero + max(.zero, tick))
    }

    private func ask(_ index: Int, now: MonotonicInstant) {
        guard let source = receivers[index].downlink.source, let encoder = encoders[source] else { return }
        guard !encoder.isShared || receivers[index].downlink.keyFrameAllowance.take(now: now) else { return }
        receivers[index].asksForKeyFrame = true
    }

    private func take(_ index: Int, canSend: Bool, now: MonotonicInstant) -> [NALUnit]? {
        var sent: EncodeStatistics?
        for id in [receivers[index].downlink.source, receivers[index].downlink.group].compactMap(\.self) {
            guard sent == nil, let encoder = encoders[id], let frame = encoder.frame else { continue }
            let backlog = DownlinkPipeline.Backlog(
                before: canSend ? receivers[index].budget.backlog(adding: .zero, now: now) : .seconds(1),
                with: canSend ? receivers[index].budget.backlog(adding: frame.size, now: now) : .seconds(1))
            let offer = DownlinkPipeline.Offer(
                frame: frame, group: id, rate: encoder.rate, rung: rung, isShared: encoder.isShared || !canSend)
            let verdict = receivers[index].downlink.take(offer, backlog: backlog, now: now)
            if verdict == .send { sent = frame }
        }
        guard let sent else { return nil }
        receivers[index].budget.spend(frame: sent.size, now: now)
        return units.frame(sent)
    }
}

/// A receiver's place in the room, as its flow sees it.
private final class Seat: PictureCodec {
    private unowned let room: ModelledRoom
    private let index: Int
    let quality: ReceivedPictureQuality? = nil
    private(set) var keyFrameCount = 0

    init(room: ModelledRoom, index: Int) {
        self.room = room
        self.index = index
    }

    func encode(frame: Int, at time: Duration, target: BitRate, isKeyFrame: Bool) -> [NALUnit]? {
        room.frame(for: index, at: time, target: target, asksForKeyFrame: isKeyFrame)
    }

    func skipPicture() { room.skip(index) }

    func receive(_ unit: AccessUnit, frame: Int) {
        if unit.isIDR { keyFrameCount += 1 }
    }
}

/// Bytes that stand for frames, without copies.
private struct ModelledUnits {
    private static let largest = 1 << 18
    private let keyFrame = Self.bytes(header: 0x65, second: 0x88)
    private let lower = Self.bytes(header: 0x41, second: 0x9A)
    private let upper = Self.bytes(header: 0x01, second: 0x9A)

    private static func bytes(header: UInt8, second: UInt8) -> ByteBuffer {
        var buffer = ByteBuffer(repeating: 0x41, count: largest)
        buffer.setBytes([header, second], at: 0)
        return buffer
    }

    func frame(_ frame: EncodeStatistics) -> [NALUnit] {
        let bytes = frame.type == .idr ? keyFrame : frame.isReference ? lower : upper
        let length = min(max(frame.size.bytes, 8), Self.largest)
        return [bytes.getSlice(at: 0, length: length).flatMap(NALUnit.init)].compactMap(\.self)
    }
}
