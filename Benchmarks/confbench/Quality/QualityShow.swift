import Compositing
import Foundation
import MediaCore
import PixelTransfer
import Simulation
import VideoCoding

/// The show of the room: the composed picture of a call at each moment, in any size.
final class QualityShow: Sendable {
    /// The pictures a second that there are.
    static let frameRate = Workload.frameRate

    private let pictures: [PixelBuffer]

    init(_ content: EncoderContent) throws {
        pictures = try (0..<content.reel.count).map(content.reel.picture)
    }

    /// The number of the picture that is seen at a moment.
    static func number(at time: MonotonicInstant) -> Int {
        let passed = (time - RoomSimulation.start).seconds * Double(frameRate)
        // A tick's own picture, however its time was rounded.
        return max(0, Int((passed + 0.01).rounded(.down)))
    }

    /// Played forwards and backwards, so that it continues without a cut.
    func picture(_ number: Int) -> PixelBuffer {
        let turn = max(1, 2 * (pictures.count - 1))
        let position = number % turn
        return pictures[position < pictures.count ? position : turn - position]
    }
}

/// Composes by scaling the show's picture to the wanted size.
final class ShowCompositor: VideoCompositing {
    let sourceAttributes = PixelBufferAttributes.any
    let destinationAttributes = PixelBufferAttributes.any
    private let show: QualityShow
    private let work: QualityWork
    private var scalers: [VideoDimensions: PixelTransferSession] = [:]
    private var last: MediaTime?
    private var yardstick: Yardstick?
    private var nextMeasurement = MonotonicInstant.zero

    /// The interval at which the machine's speed is measured.
    private static let measuringInterval = Duration.milliseconds(150)

    init(_ show: QualityShow, work: QualityWork) {
        self.show = show
        self.work = work
    }

    func render(_ request: VideoCompositionRequest) throws(VideoCompositingError) -> PixelBuffer {
        let began = ThreadClock.now()
        // One size is composed in any case: only further ones count.
        let isFirst = last != request.time
        last = request.time
        let time = MonotonicInstant(nanoseconds: request.time.duration.nanoseconds)
        let scaler =
            scalers[request.canvas]
            ?? PixelTransferSession(destination: PixelBufferAttributes(formats: [.i420], dimensions: request.canvas))
        scalers[request.canvas] = scaler
        let picture: PixelBuffer
        do {
            picture = try scaler.transfer(show.picture(QualityShow.number(at: time)))
        } catch {
            throw .failed(reason: error.description)
        }
        if isFirst {
            try measureMachine(at: time)
        } else {
            work.addComposition(ThreadClock.now() - began, at: time)
        }
        return picture
    }

    private func measureMachine(at time: MonotonicInstant) throws(VideoCompositingError) {
        guard time >= nextMeasurement else { return }
        nextMeasurement = time + Self.measuringInterval
        do throws(VideoCodingError) {
            if yardstick == nil { yardstick = try Yardstick(show) }
            if let spent = try yardstick?.measure() { work.addYardstick(spent, at: time) }
        } catch {
            throw .failed(reason: error.description)
        }
    }
}
