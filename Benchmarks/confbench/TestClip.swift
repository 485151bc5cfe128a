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
        let scene = MovingScene(dimensions: Workload.sourceDimensions)
        return try encode(count: MovingScene.period, scene.picture)
    }

    /// Encodes so many pictures; the first becomes the clip's only keyframe.
    static func encode(count: Int, _ picture: (_ number: Int) throws -> PixelBuffer) throws -> TestClip {
        do {
            let outputs = EncodeOutputQueue()
            let session = try CompressionSession(
                dimensions: Workload.sourceDimensions,
                properties: CompressionProperties(
                    averageBitRate: keyframeBitRate, expectedFrameRate: Double(Workload.frameRate)),
                outputHandler: outputs.append)
            var clip = TestClip(samples: [])
            for number in 0..<count {
                try session.encode(
                    picture(number),
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

    /// The number of a clip's frame, from zero.
    static func number(of sample: SampleBuffer) -> Int {
        Int((sample.presentationTime.seconds * Double(Workload.frameRate)).rounded())
    }

    /// The pictures that the clip's frames show, by number.
    func pictures() throws -> [Int: PixelBuffer] {
        let decoder = DecodingPipeline()
        var pictures: [Int: PixelBuffer] = [:]
        for sample in samples {
            decoder.decode(sample) { event in
                guard case .output(let output) = event, let picture = output.picture else { return }
                pictures[Self.number(of: sample)] = picture.pixelBuffer
            }
        }
        guard pictures.count == samples.count else {
            throw BenchmarkError.codecFailed(reason: "the clip that everyone sends does not decode")
        }
        return pictures
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
