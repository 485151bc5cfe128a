import AudioMixing
import MediaCore

/// A room's last minute, to explain why a picture stands still and which part caused it.
///
/// It is filled on the room's loop, at each tick, with readings of existing counters, so that packets and frames cost
/// nothing. A row's memory is allocated once, and freed when the row has been over for a minute. The number of rows is
/// limited.
final class RoomTimeline {
    /// The limit of rows of each kind: sources, audio, encoders. Further rows are left out.
    static let maximumRows = 256

    private(set) var ticks = TickTimeline()
    private(set) var sources: [SourceTimeline] = []
    private(set) var mix = MixTimeline()
    private(set) var audio: [AudioTimeline] = []
    private(set) var encoders: [EncoderTimeline] = []
    private(set) var rowsLeftOut: UInt64 = 0

    private var sourceRows: [SourceID: Int] = [:]
    private var audioRows: [ParticipantID: Int] = [:]
    private var encoderRows: [JobQueueID: Int] = [:]
    private var nextTidying: MonotonicInstant?
    /// The newest tick; nil before the first.
    private(set) var lastTick: MonotonicInstant?

    init() {}

    // MARK: Ticks

    /// Begins a tick: later readings of sources and encoders belong to it.
    func tick(index: Int64, leftOut: Int64 = 0, missedTicks: UInt64, now: MonotonicInstant) {
        ticks.observe(index: index, leftOut: leftOut, missedTicks: missedTicks, now: now)
        lastTick = now
        if now >= nextTidying ?? .zero {
            forgetOldRows(now: now)
            nextTidying = now + .seconds(1)
        }
    }

    /// Records the time of composing a tick's pictures.
    func composed(_ work: CompositionWork, interval: Duration, now: MonotonicInstant) {
        ticks.observe(work, interval: interval, now: now)
    }

    /// Records an audio tick's result for all audio.
    func mixed(_ result: AudioTickResult, now: MonotonicInstant) {
        mix.observe(result, now: now)
    }

    // MARK: Rows

    /// Takes a reading of a source; its row begins with the first.
    func observe(
        _ reading: SourceReading, of source: SourceID, now: MonotonicInstant,
        describe: () -> (publicID: String, name: String)
    ) {
        if let row = sourceRows[source] {
            sources[row].observe(reading, now: now)
            return
        }
        guard hasRoom(sources.count) else { return }
        let (publicID, name) = describe()
        let row = SourceTimeline(source: source, publicID: publicID, name: name, now: now)
        sourceRows[source] = sources.count
        sources.append(row)
        row.observe(reading, now: now)
    }

    /// Records an audio tick's result for a participant's audio and for its mix.
    func observe(
        _ report: AudioSourceReport?, mix: EncodedAudio?, of participant: ParticipantID, now: MonotonicInstant,
        describe: () -> (publicID: String, name: String)
    ) {
        guard report != nil || mix != nil else { return }
        if let row = audioRows[participant] {
            audio[row].observe(report, mix: mix, now: now)
            return
        }
        guard hasRoom(audio.count) else { return }
        let (publicID, name) = describe()
        let row = AudioTimeline(participant: participant, publicID: publicID, name: name, now: now)
        audioRows[participant] = audio.count
        audio.append(row)
        row.observe(report, mix: mix, now: now)
    }

    /// The name of a source's owner; nil after it was forgotten.
    func name(of source: SourceID) -> String? {
        sourceRows[source].map { sources[$0].name } ?? audioRows[source.participant].map { audio[$0].name }
    }

    /// An encoder's row, made if need be; nil when there are too many.
    func encoder(_ id: JobQueueID, now: MonotonicInstant) -> EncoderTimeline? {
        if let row = encoderRows[id] { return encoders[row] }
        guard hasRoom(encoders.count) else { return nil }
        let row = EncoderTimeline(id: id, now: now)
        encoderRows[id] = encoders.count
        encoders.append(row)
        return row
    }

    private func hasRoom(_ count: Int) -> Bool {
        guard count >= Self.maximumRows else { return true }
        rowsLeftOut &+= 1
        return false
    }

    private func forgetOldRows(now: MonotonicInstant) {
        func isOver(_ lastSeen: MonotonicInstant) -> Bool { now - lastSeen > TimelineScale.length }
        if sources.contains(where: { isOver($0.lastSeen) }) {
            sources.removeAll { isOver($0.lastSeen) }
            sourceRows = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1.source, $0) })
        }
        if audio.contains(where: { isOver($0.lastSeen) }) {
            audio.removeAll { isOver($0.lastSeen) }
            audioRows = Dictionary(uniqueKeysWithValues: audio.enumerated().map { ($1.participant, $0) })
        }
        if encoders.contains(where: { isOver($0.lastSeen) }) {
            encoders.removeAll { isOver($0.lastSeen) }
            encoderRows = Dictionary(uniqueKeysWithValues: encoders.enumerated().map { ($1.id, $0) })
        }
    }
}
