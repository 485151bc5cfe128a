/// The result of one conference. Cores are processor seconds for each second of conference.
struct ConferenceResult: Codable, Sendable {
    /// The time that the codecs alone take for one piece of work of each kind, in milliseconds.
    struct UnitCosts: Codable, Sendable {
        var decodeMilliseconds: Double
        var composeMilliseconds: Double
        var encodeMilliseconds: Double
        var audioDecodeMilliseconds: Double
        var audioEncodeMilliseconds: Double
    }

    var way: ConferenceWay
    var participants: Int
    /// The codecs alone, for all the work of the conference: pictures only, and with audio.
    var floorCores: Double
    var floorWithAudioCores: Double
    var unitCosts: UnitCosts

    var relayCores: Double
    /// The relay's cost over the floor of the work that it did: pictures only, and with audio. The median of the
    /// rounds; in each the relay is held against the floors before and after it.
    var ratio: Double
    var ratioWithAudio: Double
    /// The lowest and the highest `ratioWithAudio` of a round: how steady the machine was.
    var lowestRatioWithAudio: Double
    var highestRatioWithAudio: Double
    /// The relay's cost, by the role of its threads.
    var workerCores: Double
    var eventLoopCores: Double
    var otherCores: Double
    /// The clients' cost, for information: they run beside the relay.
    var loadCores: Double

    var measuredSeconds: Double
    /// The relay's work each second.
    var work: WorkRate
    /// Frames sent a second to each receiver.
    var framesPerReceiver: Double
    var missedTicks: UInt64
    var lateAudioTicks: UInt64
    var framesDropped: UInt64
    var keyframes: UInt64
    var videoBitsPerSecond: Int64

    /// - Parameters:
    ///   - floors: One before each round and one after the last.
    ///   - rounds: The relay's measurements; at least one.
    init(
        way: ConferenceWay, participants: Int, hasSound: Bool = true, floors: [FloorCost],
        relay rounds: [RelayMeasurement]
    ) {
        func total(_ cost: FloorCost, _ work: WorkRate) -> Double {
            cost.videoCores(for: work) + cost.audioCores(for: work)
        }
        func over(_ value: Double, _ base: Double) -> Double { base > 0 ? value / base : 0 }
        let around = zip(rounds, zip(floors, floors.dropFirst()).map { $0 + $1 })
        let ratios = around.map { over($0.cores, $1.videoCores(for: $0.work)) }
        let ratiosWithAudio = around.map { over($0.cores, total($1, $0.work)) }
        let floor = floors.reduce(FloorCost()) { $0 + $1 }
        let whole = WorkRate(participants: participants, way: way, hasSound: hasSound)
        let relay = RelayMeasurement(joining: rounds)
        self.way = way
        self.participants = participants
        floorCores = floor.videoCores(for: whole)
        floorWithAudioCores = total(floor, whole)
        unitCosts = UnitCosts(
            decodeMilliseconds: floor.decode.secondsEach * 1e3, composeMilliseconds: floor.compose.secondsEach * 1e3,
            encodeMilliseconds: floor.encode.secondsEach * 1e3,
            audioDecodeMilliseconds: floor.audioDecode.secondsEach * 1e3,
            audioEncodeMilliseconds: floor.audioEncode.secondsEach * 1e3)
        relayCores = relay.cores
        ratio = Self.median(ratios)
        ratioWithAudio = Self.median(ratiosWithAudio)
        lowestRatioWithAudio = ratiosWithAudio.min() ?? 0
        highestRatioWithAudio = ratiosWithAudio.max() ?? 0
        workerCores = relay.threadCores[.workers] ?? 0
        eventLoopCores = relay.threadCores[.eventLoop] ?? 0
        otherCores = relay.threadCores[.other] ?? 0
        loadCores = relay.loadCores
        measuredSeconds = relay.seconds
        work = relay.work
        framesPerReceiver = over(relay.deliveries, Double(participants))
        missedTicks = relay.missedTicks
        lateAudioTicks = relay.lateAudioTicks
        framesDropped = relay.framesDropped
        keyframes = relay.keyframes
        videoBitsPerSecond = relay.videoBitsPerSecond
    }

    /// The median; of an even number of values the mean of the two in the middle, and zero without values.
    static func median(_ values: [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}
