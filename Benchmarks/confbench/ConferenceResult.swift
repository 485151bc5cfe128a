/// What came of one conference. Cores are processor seconds for each second of conference.
struct ConferenceResult: Codable, Sendable {
    /// What the codecs alone take for one piece of work of each kind, in milliseconds.
    struct UnitCosts: Codable, Sendable {
        var decodeMilliseconds: Double
        var composeMilliseconds: Double
        var encodeMilliseconds: Double
        var audioDecodeMilliseconds: Double
        var audioEncodeMilliseconds: Double
    }

    var participants: Int
    /// The codecs alone, for all the work of the conference: pictures only, and with sound.
    var floorCores: Double
    var floorWithAudioCores: Double
    /// How far the floor after the relay was above the one before: the machine's drift.
    var floorDrift: Double
    var unitCosts: UnitCosts

    var relayCores: Double
    /// The relay's cost over the floor of the work that it did: pictures only, and with sound.
    var ratio: Double
    var ratioWithAudio: Double
    /// Where the relay's cost fell, by the role of its threads.
    var workerCores: Double
    var eventLoopCores: Double
    var otherCores: Double
    /// The clients' cost, for information: they run beside the relay.
    var loadCores: Double

    var measuredSeconds: Double
    /// What the relay did each second.
    var work: WorkRate
    /// Frames encoded a second for each receiver.
    var framesPerReceiver: Double
    var missedTicks: UInt64
    var lateAudioTicks: UInt64
    var framesDropped: UInt64
    var keyFrames: UInt64
    var videoBitsPerSecond: Int64

    init(participants: Int, floorBefore: FloorCost, floorAfter: FloorCost, relay: RelayMeasurement) {
        let floor = floorBefore + floorAfter
        let whole = WorkRate(participants: participants)
        func total(_ cost: FloorCost, _ work: WorkRate) -> Double {
            cost.videoCores(for: work) + cost.audioCores(for: work)
        }
        func over(_ value: Double, _ base: Double) -> Double { base > 0 ? value / base : 0 }
        self.participants = participants
        floorCores = floor.videoCores(for: whole)
        floorWithAudioCores = total(floor, whole)
        floorDrift = over(total(floorAfter, whole), total(floorBefore, whole)) - 1
        unitCosts = UnitCosts(
            decodeMilliseconds: floor.decode.secondsEach * 1e3, composeMilliseconds: floor.compose.secondsEach * 1e3,
            encodeMilliseconds: floor.encode.secondsEach * 1e3,
            audioDecodeMilliseconds: floor.audioDecode.secondsEach * 1e3,
            audioEncodeMilliseconds: floor.audioEncode.secondsEach * 1e3)
        relayCores = relay.cores
        ratio = over(relay.cores, floor.videoCores(for: relay.work))
        ratioWithAudio = over(relay.cores, total(floor, relay.work))
        workerCores = relay.threadCores[.workers] ?? 0
        eventLoopCores = relay.threadCores[.eventLoop] ?? 0
        otherCores = relay.threadCores[.other] ?? 0
        loadCores = relay.loadCores
        measuredSeconds = relay.seconds
        work = relay.work
        framesPerReceiver = over(relay.work.encodes, Double(participants))
        missedTicks = relay.missedTicks
        lateAudioTicks = relay.lateAudioTicks
        framesDropped = relay.framesDropped
        keyFrames = relay.keyFrames
        videoBitsPerSecond = relay.videoBitsPerSecond
    }
}
