import MediaCore
import PixelTransfer
import Simulation

/// Compares the pictures that receivers see with those that were composed.
struct QualityMeasurement {
    var room: QualityRoom

    /// The distance of compared pictures. It is odd, so that they do not all belong to one temporal layer.
    private static let interval = 7

    func result(_ way: QualityWay, _ outcome: QualityRoom.Outcome) throws -> QualityResult {
        let seconds = (room.duration - room.warmUp).seconds
        let receivers = try outcome.frames.indices.map { index in
            let figures = outcome.report.receivers[index]
            return QualityReceiver(
                network: room.receivers[index].name,
                capacityKilobits: room.capacity(of: index).kilobitsPerSecond,
                receivedKilobits: figures.bitRate / 1000, framesPerSecond: figures.frameRate,
                delay95: figures.delay95, longestGap: figures.longestGap,
                keyframes: figures.keyframes, groupChanges: figures.groupChanges,
                framesLayerDropped: figures.layerDrops,
                height: height(outcome.frames[index]), ssim: try similarity(outcome.frames[index]))
        }
        return QualityResult(
            way: way, encoders: outcome.report.meanEncoders, encodingCores: outcome.encodingCores,
            composingCores: outcome.composingCores, seconds: seconds, receivers: receivers)
    }

    /// The mean height of those pictures that are counted.
    private func height(_ frames: [RoomFrame]) -> Double {
        var mean = Mean()
        for frame in frames where frame.arrival >= RoomSimulation.start + room.warmUp {
            mean.add(Double(frame.sample.format.dimensions.height))
        }
        return mean.value
    }

    private func similarity(_ frames: [RoomFrame]) throws -> Double {
        let viewer = QualityViewer(frames, canvas: Workload.canvas)
        var similarity = Mean()
        let begin = QualityShow.number(at: RoomSimulation.start + room.warmUp)
        // The last composed pictures are seen after the end.
        let end = QualityShow.number(at: RoomSimulation.start + room.duration - QualityViewer.playoutDelay)
        for number in stride(from: begin, to: end, by: Self.interval) {
            let time = RoomSimulation.start + .seconds(1) * number / QualityShow.frameRate
            guard let seen = try viewer.picture(at: time) else {
                similarity.add(0)
                continue
            }
            similarity.add(try PictureQuality.ssim(seen, room.show.picture(number)))
        }
        return similarity.value
    }
}
