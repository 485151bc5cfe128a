import ConferenceClient
import Foundation
import H264
import MediaCore
import NIOCore
import VideoCoding

/// The clip that every client sends, encoded once, as samples for the floor and as a file for the clients.
struct TestClip {
    var samples: [SampleBuffer]

    /// The rate of the keyframe. It is small, since a client that has spent too much on it would leave out the
    /// following frames.
    private static let keyframeBitRate = BitRate.kilobits(60)

    /// Encodes a scene that begins with the clip's only keyframe. It is played over and over.
    static func encode() throws -> TestClip {
        do {
            let scene = MovingScene(dimensions: Workload.sourceDimensions)
            let outputs = EncodeOutputQueue()
            let session = try CompressionSession(
                dimensions: Workload.sourceDimensions,
                properties: CompressionProperties(
                    averageBitRate: keyframeBitRate, expectedFrameRate: Double(Workload.frameRate)),
                outputHandler: outputs.append)
            var clip = TestClip(samples: [])
            for number in 0..<MovingScene.period {
                try session.encode(
                    scene.picture(number),
                    presentationTime: MediaTime(value: Int64(number), timescale: Int32(Workload.frameRate)))
                if let frame = outputs.next()?.frame { clip.samples.append(frame.sample) }
                try session.set(\.averageBitRate, to: Workload.sourceBitRate)
            }
            guard clip.samples.first?.isSync == true else {
                throw BenchmarkError.codecFailed(reason: "the clip does not begin with a keyframe")
            }
            return clip
        } catch let error as VideoCodingError {
            throw BenchmarkError.codecFailed(reason: error.description)
        }
    }

    /// Writes a raw H.264 stream.
    func write(to path: String) throws {
        var bytes = ByteBuffer()
        for sample in samples {
            bytes.writeImmutableBuffer(AnnexB.encode(try sample.nalUnits()))
        }
        do {
            try Data(bytes.readableBytesView).write(to: URL(fileURLWithPath: path))
        } catch {
            throw BenchmarkError.system(reason: "\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
