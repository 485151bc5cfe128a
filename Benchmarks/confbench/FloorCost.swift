import MediaCore

/// Processor time that the codecs alone took, by kind of work.
struct FloorCost: Sendable {
    /// Work of one kind: how often it was done and how long that took together.
    struct Stage: Sendable {
        var count = 0
        var total = Duration.zero

        mutating func add(_ duration: Duration, count added: Int) {
            total += duration
            count += added
        }

        /// The time of one, in seconds; zero if there was none.
        var secondsEach: Double { count > 0 ? total.seconds / Double(count) : 0 }

        static func + (left: Stage, right: Stage) -> Stage {
            Stage(count: left.count + right.count, total: left.total + right.total)
        }
    }

    var decode = Stage()
    var compose = Stage()
    var encode = Stage()
    var audioDecode = Stage()
    var audioEncode = Stage()

    static func + (left: FloorCost, right: FloorCost) -> FloorCost {
        FloorCost(
            decode: left.decode + right.decode, compose: left.compose + right.compose,
            encode: left.encode + right.encode, audioDecode: left.audioDecode + right.audioDecode,
            audioEncode: left.audioEncode + right.audioEncode)
    }

    /// Processor seconds that the video part of `work` takes at least, for each second.
    func videoCores(for work: WorkRate) -> Double {
        work.decodes * decode.secondsEach + work.compositions * compose.secondsEach
            + work.encodes * encode.secondsEach
    }

    /// The same for audio.
    func audioCores(for work: WorkRate) -> Double {
        work.audioDecodes * audioDecode.secondsEach + work.audioEncodes * audioEncode.secondsEach
    }
}

/// The number of pieces of work of each kind per second, for all participants together.
struct WorkRate: Codable, Hashable, Sendable {
    var decodes: Double
    var compositions: Double
    var encodes: Double
    var audioDecodes: Double
    var audioEncodes: Double

    init(decodes: Double, compositions: Double, encodes: Double, audioDecodes: Double, audioEncodes: Double) {
        self.decodes = decodes
        self.compositions = compositions
        self.encodes = encodes
        self.audioDecodes = audioDecodes
        self.audioEncodes = audioEncodes
    }

    /// All the work of a conference of which nothing is left out.
    init(participants count: Int, way: ConferenceWay, hasSound: Bool = true) {
        func frames(_ count: Int) -> Double { Double(count * Workload.frameRate) }
        let packets = hasSound ? Double(count * Workload.audioFrequency) : 0
        self.init(
            decodes: frames(count), compositions: frames(way.compositionCount(participants: count)),
            encodes: frames(way.encoderCount(participants: count)), audioDecodes: packets, audioEncodes: packets)
    }
}
