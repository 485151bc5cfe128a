import AudioMixing
import MediaCore
import NIOCore
import OrderedCollections
import PeerConnection

/// A room's audio: the heard participants, the speaker, and each receiver's mix or forwarded packets.
///
/// It collects packets between its ticks, which are 20 ms apart, and returns a job that mixes them. Receivers that hear
/// only one other participant get that participant's packets: in calls of two, or as listeners to one sender. While
/// this holds for everybody and the packets state their levels, nothing is decoded.
final class AudioPlane {
    /// Ticks a second: one for each Opus packet of ours.
    static let frequency = 50
    /// The number of ticks that one mixing job may catch up with; more would be heard as a burst of stale audio.
    static let maximumBacklog: Int64 = 5
    /// After this time without a packet ticks come only now and then: levels, forwarding and playout have settled.
    private static let pausesAfter = Duration.seconds(3)
    /// The time between two packets of silence then, as with Opus's discontinuous transmission.
    private static let silentInterval = Duration.milliseconds(400)

    private let room: String
    private let mayForward: Bool
    private let mixer: QueueConfined<AudioMixingSession>
    let queue: JobQueueID
    private var schedule: TickSchedule
    /// When the newest packet came, or a stream began or ended.
    private var lastHeard: MonotonicInstant
    private var input = AudioMixingInput()
    private var waitingTicks: [(index: Int64, time: MonotonicInstant)] = []
    private var isMixing = false
    /// True if a recording gets the mix of all.
    private var isRecorded = false
    /// True while nobody gets a mix, and packets state their levels: then nothing is decoded or mixed.
    private(set) var isPaused = false
    private var speaker = ActiveSpeakerDetector()
    /// The members in the order of joining.
    private var members: OrderedDictionary<ParticipantID, Member> = [:]

    private(set) var lateTicks: UInt64 = 0
    private(set) var failures: UInt64 = 0
    private(set) var packetsForwarded: UInt64 = 0
    /// The changes of receivers that have left.
    private var formerSwitches: UInt64 = 0

    private struct Member {
        let id: ParticipantID
        var sendsAudio = false
        var hearsMix = false
        var microphoneIsOn = true
        /// True if the member may be heard; if not, its audio is neither mixed nor forwarded.
        var isAdmitted = true
        var isHeard: Bool { microphoneIsOn && isAdmitted }
        /// False until the member has connected: nothing comes from it before.
        var isSeated = true
        var mayBeHeard: Bool { sendsAudio && isSeated }
        /// The rate of audio that the member's network carries; this one until the connection has told it.
        var bitRate = BitRate.kilobits(32)
        var expectedLoss = 0.0
        /// The receiver's choice between the mix and another's packets.
        var link = AudioForwardingLink()
        /// Rate and level that the member's packets show without being decoded.
        var undecoded = UndecodedAudio()
        /// The last report on the member's audio.
        var report: AudioSourceReport?
        var drops = CounterReading()
        var packetsNotDecoded: UInt64 = 0
        /// The rate of audio that the member is to be sent, with the headers of a mix's packets.
        var allowed: BitRate { bitRate + BitRate(PeerConfiguration.packetOverhead, over: AudioFormat.frameDuration) }
    }

    init(room: String, configuration: RelayConfiguration, queue: JobQueueID, now: MonotonicInstant) {
        self.room = room
        self.queue = queue
        mayForward = configuration.forwarding != .off
        mixer = QueueConfined(AudioMixingSession(maximumVoices: configuration.maximumVoices))
        schedule = TickSchedule(origin: now, frequency: Self.frequency)
        lastHeard = now
    }

    // MARK: Members

    /// Sets which audio a member sends and hears.
    func setStreams(of id: ParticipantID, sendsAudio: Bool, hearsMix: Bool) {
        let before = members[id] ?? Member(id: id)
        members[id] = before
        guard let index = members.index(forKey: id) else { return }
        members.values[index].sendsAudio = sendsAudio
        members.values[index].hearsMix = hearsMix
        if sendsAudio != before.sendsAudio { input.apply(sendsAudio ? .addSource(id) : .removeSource(id)) }
        // A new receiver gets packets at once.
        schedule.wake()
        if hearsMix != before.hearsMix {
            members.values[index].link.reset()
            setMixed(hearsMix, index)
        }
        guard !sendsAudio else { return }
        members.values[index].report = nil
        speaker.endVoice(of: id)
    }

    func remove(_ id: ParticipantID) {
        guard let member = members.removeValue(forKey: id) else { return }
        if member.sendsAudio { input.apply(.removeSource(id)) }
        if member.hearsMix { input.apply(.removeReceiver(id)) }
        formerSwitches &+= member.link.switches
        speaker.remove(id)
    }

    /// The levels of a microphone that is off are not used.
    func setMicrophone(isOn: Bool, of id: ParticipantID) {
        members[id]?.microphoneIsOn = isOn
    }

    /// Lets a member be heard, or not, whatever it sends.
    func setAdmitted(_ isAdmitted: Bool, of id: ParticipantID) {
        members[id]?.isAdmitted = isAdmitted
    }

    /// Sets whether a member counts among those whom others may hear.
    func setSeated(_ isSeated: Bool, of id: ParticipantID) { members[id]?.isSeated = isSeated }

    /// Sets the rate of audio that a member's network carries.
    func setBitRate(_ rate: BitRate, of id: ParticipantID) {
        members[id]?.bitRate = rate
        if members[id]?.link.isMixed ?? false { input.apply(.setBitRate(rate, id)) }
    }

    /// Sets whether the mixer makes packets for a member.
    private func setMixed(_ isMixed: Bool, _ index: Int) {
        let member = members.values[index]
        if isMixed { setPaused(false) }
        let settings = AudioEncoderSettings(bitRate: member.bitRate, expectedPacketLoss: member.expectedLoss)
        input.apply(isMixed ? .addReceiver(member.id, settings) : .removeReceiver(member.id))
    }

    /// Has the mixer make a mix of all for a recording, or not any more.
    func setRecorded(_ isRecorded: Bool) {
        guard isRecorded != self.isRecorded else { return }
        self.isRecorded = isRecorded
        if isRecorded {
            setPaused(false)
            schedule.wake()
        }
        input.apply(
            isRecorded
                ? .addReceiver(Self.recording, AudioEncoderSettings(bitRate: Self.recordingRate, usesInBandFEC: false))
                : .removeReceiver(Self.recording))
    }

    /// Stands for the recording among the mixer's receivers; no participant has this number.
    private static let recording = ParticipantID(rawValue: .max)
    private static let recordingRate = BitRate.kilobits(64)

    /// Pauses the mixer, or starts it again with fresh sources, because its state is old by then.
    private func setPaused(_ isPaused: Bool) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        for member in members.values where member.sendsAudio {
            input.apply(isPaused ? .removeSource(member.id) : .addSource(member.id))
        }
    }

    // MARK: Packets in

    /// A packet to forward to a receiver.
    struct Forwarded {
        var receiver: ParticipantID
        /// The number of samples in the packet, at 48 kHz.
        var sampleCount: Int
        var level: AudioLevel?
    }

    /// Takes a packet. Returns the receivers to forward it to. Forwarding to a receiver that waits begins with it.
    func insert(_ packet: ReceivedAudioPacket, from sender: ParticipantID, now: MonotonicInstant) -> [Forwarded] {
        lastHeard = now
        schedule.wake()
        guard let from = members.index(forKey: sender), members.values[from].isAdmitted else { return [] }
        if !isPaused {
            input.insert(
                AudioPacket(
                    payload: packet.payload, rtpTimestamp: packet.rtpTimestamp, sequence: packet.sequence,
                    arrival: packet.arrival, claimedLevel: packet.level),
                from: sender)
        }
        guard mayForward else { return [] }
        let rate = members.values[from].undecoded.add(packet, now: now)
        // Nearly all packets are for nobody but the mixer. The scan in place copies no member.
        guard members.values.withUnsafeBufferPointer({ $0.contains { $0.link.concerns(sender) } }) else { return [] }
        guard packet.payload.readableBytes <= ForwardingPolicy.maximumPayload,
            let sampleCount = OpusDecoder.sampleCount(of: packet.payload)
        else { return [] }
        var forwarded: [Forwarded] = []
        for index in members.values.indices where index != from {
            if members.values[index].link.phase == .awaiting(sender) {
                members.values[index].link.begin()
                setMixed(false, index)
            }
            let member = members.values[index]
            guard member.link.passes(sender, rate: rate, allowed: member.allowed) else { continue }
            let level = packet.level ?? members.values[from].report?.level
            forwarded.append(Forwarded(receiver: member.id, sampleCount: sampleCount, level: level))
        }
        return forwarded
    }

    /// A packet was forwarded to a receiver.
    func didForward(to receiver: ParticipantID) {
        packetsForwarded &+= 1
        members[receiver]?.link.packets &+= 1
    }

    // MARK: Ticks

    /// Returns true if a packet has come within this time.
    func hasHeard(within time: Duration, now: MonotonicInstant) -> Bool { now - lastHeard < time }

    /// The time of the next tick; nil while nothing is mixed.
    var nextTick: MonotonicInstant? { isPaused ? nil : schedule.next }

    /// Performs due ticks. Returns the mixing job, if there is one now.
    ///
    /// - Parameter losses: Returns the share of its audio packets that a receiver loses, 0 to 1.
    func wake(losses: (ParticipantID) -> Double, now: MonotonicInstant) -> Job? {
        guard !isPaused else { return nil }
        while let tick = schedule.takeTick(tolerance: Self.maximumBacklog, now: now) {
            waitingTicks.append((tick.index, tick.time))
        }
        let excess = max(0, waitingTicks.count - Int(Self.maximumBacklog))
        waitingTicks.removeFirst(excess)
        lateTicks &+= UInt64(excess)
        return takeJob(losses: losses, now: now)
    }

    private func takeJob(losses: (ParticipantID) -> Double, now: MonotonicInstant) -> Job? {
        guard !isMixing, !waitingTicks.isEmpty else { return nil }
        if waitingTicks.count > 1 { lateTicks &+= UInt64(waitingTicks.count - 1) }
        isMixing = true
        updateForwarding(losses: losses, now: now)
        for index in members.values.indices where members.values[index].hearsMix {
            let loss = losses(members.values[index].id)
            guard loss != members.values[index].expectedLoss else { continue }
            members.values[index].expectedLoss = loss
            input.apply(.setExpectedPacketLoss(loss, members.values[index].id))
        }
        let (mixer, room, ticks, input) = (mixer, room, waitingTicks, input.take())
        waitingTicks.removeAll(keepingCapacity: true)
        return Job(kind: .mix, queue: queue, deadline: ticks[0].time + .milliseconds(5), handedOut: now) {
            let mixed = ticks.enumerated().map { position, tick in
                MixedTick(
                    captureTime: tick.time,
                    sampleTime: UInt32(truncatingIfNeeded: tick.index * Int64(AudioFormat.frameSampleCount)),
                    output: mixer.value.tick(position == 0 ? input : AudioMixingInput(), now: tick.time))
            }
            return .mixed(room: room, mixed)
        }
    }

    /// Takes a job's mixes. Returns the packets of each tick and their receivers.
    func complete(_ ticks: [MixedTick], now: MonotonicInstant) -> [Mix] {
        isMixing = false
        // The mixer has played all that came.
        if !isRecorded, !hasHeard(within: Self.pausesAfter, now: now) { schedule.pause(for: Self.silentInterval) }
        return ticks.map { tick in
            failures &+= UInt64(tick.output.failures.count)
            let sources = tick.output.sources
            record(sources, now: tick.captureTime)
            var mix = Mix(tick: tick)
            if isRecorded { mix.recorded = tick.output.packets[Self.recording] }
            for index in members.values.indices {
                guard let packet = tick.output.packets[members.values[index].id],
                    members.values[index].link.takesMix(now: now, isPlayed: { sources[$0]?.isPlaying ?? true })
                else { continue }
                mix.packets.append((members.values[index].id, packet))
            }
            return mix
        }
    }

    /// The result of a tick.
    struct Mix {
        var tick: MixedTick
        var packets: [(receiver: ParticipantID, audio: EncodedAudio)] = []
        /// The mix of all, for the recording.
        var recorded: EncodedAudio?
    }

    // MARK: Forwarding

    /// Replaces the mixer's ticks while it is paused; call it at each video tick. Returns the levels in packets if
    /// nothing else is known.
    func observeUndecoded(
        losses: (ParticipantID) -> Double, now: MonotonicInstant
    ) -> [ParticipantID: AudioSourceReport]? {
        guard isPaused else { return nil }
        updateForwarding(losses: losses, now: now)
        guard isPaused else { return nil }
        var reports: [ParticipantID: AudioSourceReport] = [:]
        for member in members.values where member.sendsAudio {
            reports[member.id] = AudioSourceReport(
                level: member.undecoded.level(now: now), isPlaying: false, statistics: AudioSourceStatistics())
        }
        record(reports, now: now)
        return reports
    }

    /// Decides which receivers get another's packets in place of the mix.
    private func updateForwarding(losses: (ParticipantID) -> Double, now: MonotonicInstant) {
        guard mayForward else { return }
        let first = members.values.firstIndex(where: \.mayBeHeard)
        let second = first.flatMap { first in members.values[(first + 1)...].firstIndex(where: \.mayBeHeard) }
        // If three or more participants send audio, everybody hears several.
        let hasMore = second.map { second in members.values[(second + 1)...].contains(where: \.mayBeHeard) } ?? false
        for index in members.values.indices where members.values[index].hearsMix {
            var sole = index == first ? second : first
            if hasMore || (second != nil && index != first && index != second) { sole = nil }
            consider(index, sole: sole, losses: losses, now: now)
        }
        setPaused(canDoWithoutMixer(now: now))
    }

    private func consider(
        _ index: Int, sole: Int?, losses: (ParticipantID) -> Double, now: MonotonicInstant
    ) {
        let reading = sole.map { sender in
            (
                id: members.values[sender].id,
                reading: AudioForwardingLink.Reading(
                    rate: members.values[sender].undecoded.rate(now: now),
                    allowed: members.values[index].allowed,
                    loss: losses(members.values[index].id))
            )
        }
        if members.values[index].link.consider(reading, now: now) { setMixed(true, index) }
    }

    private func canDoWithoutMixer(now: MonotonicInstant) -> Bool {
        guard !isRecorded else { return false }
        var isPassing = false
        for member in members.values {
            if member.sendsAudio, !member.undecoded.isLevelTrusted(isOn: member.isHeard, now: now) {
                return false
            }
            guard member.hearsMix else { continue }
            if member.link.isMixed { return false }
            isPassing = true
        }
        return isPassing
    }

    // MARK: Speakers

    private func record(_ reports: [ParticipantID: AudioSourceReport], now: MonotonicInstant) {
        for index in members.values.indices {
            // A job that went out before may report a stream that has ended.
            guard members.values[index].sendsAudio, let report = reports[members.values[index].id] else { continue }
            members.values[index].report = report
            members.values[index].undecoded.take(report.levelClaim, now: now)
            let statistics = report.statistics
            members.values[index].packetsNotDecoded &+= members.values[index].drops.advance(
                to: UInt64(clamping: statistics.overlapping + statistics.overBudget))
            speaker.observe(
                members.values[index].isHeard ? report.level : .silence, of: members.values[index].id, now: now)
        }
        speaker.choose(now: now)
    }

    var activeSpeaker: ParticipantID? { speaker.activeSpeaker }
    /// The members that spoke, the latest first.
    var recentSpeakers: [ParticipantID] { speaker.recentSpeakers }
    func isSpeaking(_ id: ParticipantID) -> Bool { speaker.isSpeaking(id) }

    // MARK: State

    /// A member's audio, for snapshots.
    struct State {
        /// The last report on the audio that it sends.
        var report: AudioSourceReport?
        /// Audio packets that were not decoded: their time had been decoded, or more audio than time had gone by.
        var packetsNotDecoded: UInt64
        /// True if decoding has shown that the levels in its packets are wrong.
        var isLevelRefuted: Bool
        /// The member's choice between the mix and another's packets.
        var link: AudioForwardingLink
    }

    func state(of id: ParticipantID) -> State? {
        members[id].map { member in
            State(
                report: member.report, packetsNotDecoded: member.packetsNotDecoded,
                isLevelRefuted: member.undecoded.isRefuted, link: member.link)
        }
    }

    /// The number of members that get another's packets.
    var forwardingCount: Int { members.values.count { $0.link.source != nil } }

    /// The number of changes of receivers between the mix and another's packets.
    var switches: UInt64 { members.values.reduce(formerSwitches) { $0 &+ $1.link.switches } }
}
