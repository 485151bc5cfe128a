import Conference
import CongestionControl
import MediaCore
import Simulation
import VideoCoding

/// A room in which one way serves the receivers, on virtual time: it runs the relay's own code with real encoders, and
/// records the frames of each receiver.
struct QualityRoom {
    var receivers: [RoomSimulationParameters.Receiver]
    var duration: Duration
    var warmUp: Duration
    var seed: UInt64
    var show: QualityShow

    /// The most that is sent to anybody: more than any of the networks carries.
    private static let maximum = BitRate.kilobits(3500)

    /// The result of the simulation.
    struct Outcome {
        var report: RoomReport
        /// Processor seconds a second.
        var encodingCores: Double
        var composingCores: Double
        /// The time of a yardstick's frame, in seconds.
        var yardstick: Double
        /// The frames of each receiver, in the order in which they came.
        var frames: [[RoomFrame]]

        var cores: Double { encodingCores + composingCores }

        /// As if the machine had been as fast as in another's case.
        func scaled(to other: Outcome) -> Outcome {
            guard yardstick > 0 else { return self }
            var scaled = self
            let factor = other.yardstick / yardstick
            scaled.encodingCores *= factor
            scaled.composingCores *= factor
            return scaled
        }
    }

    func run(_ way: QualityWay) throws -> Outcome {
        let isMinimum = way.kind == .minimum
        var members = receivers
        if isMinimum {
            let slowest = QualityNetworks.minimum(receivers, duration: duration)
            for index in members.indices { members[index].downlink = slowest }
        }
        let work = QualityWork(since: RoomSimulation.start + warmUp)
        var parameters = RoomSimulationParameters(
            receivers: members, duration: duration, maximumEncoders: way.maximumEncoders)
        parameters.warmUp = warmUp
        parameters.seed = seed
        parameters.canvas = way.dimensions
        parameters.frameRate = way.frameRate
        parameters.hasLadder = way.hasLadder
        parameters.rateLimits.maximum = Self.maximum
        let (show, preset) = (show, way.encoderPreset)
        parameters.media = RoomMedia(
            makeCompositor: { ShowCompositor(show, work: work) },
            makeEncoder: { (dimensions, properties) throws(VideoCodingError) in
                try MeasuredEncoder(dimensions: dimensions, properties: properties, preset: preset, work: work)
            },
            captureTime: work.captureTime)
        let simulation = try RoomSimulation(parameters)
        var frames = [[RoomFrame]](repeating: [], count: members.count)
        simulation.onFrame = { frame in
            if frames.indices.contains(frame.receiver) { frames[frame.receiver].append(frame) }
        }
        let report = try simulation.run()
        let seconds = (duration - warmUp).seconds
        return Outcome(
            report: report, encodingCores: work.encoding.total.seconds / seconds,
            composingCores: work.composing.total.seconds / seconds, yardstick: work.yardstick.secondsEach,
            frames: frames)
    }

    /// The average rate of a receiver's network after the warm-up.
    func capacity(of receiver: Int) -> BitRate {
        min(QualityNetworks.capacity(of: receivers[receiver], from: warmUp, to: duration), Self.maximum)
    }
}
