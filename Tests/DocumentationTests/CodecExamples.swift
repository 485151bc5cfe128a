import Foundation
import H264
import MediaCore
import NIOCore
import VideoCoding

// The README and docs/codec-sessions.md show, or link to, the code between `example` and `end`; the tests run it.

func decodeFile(_ path: String, show: (PixelBuffer, MediaTime) -> Void) throws {
    // example decode
    var file = ElementaryStreamReader()
    file.append(ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path))))
    let decoder = DecodingPipeline()
    let take: (DecodingEvent) -> Void = { event in
        guard case .output(let output) = event, let picture = output.picture else { return }
        show(picture.pixelBuffer, picture.presentationTime)  // libavcodec's own memory, not a copy
    }
    while let sample = file.nextSample() ?? file.finish() { decoder.decode(sample, take) }
    decoder.finishDelayedFrames(take)
    // end
}

func encode(_ pictures: [PixelBuffer], to file: FileHandle) throws {
    // example encode
    let encoder = try CompressionSession(
        dimensions: VideoDimensions(width: 640, height: 360),
        properties: CompressionProperties(averageBitRate: .kilobits(800))
    ) { output in
        guard let frame = output.frame, let units = try? frame.sample.nalUnits() else { return }
        file.write(Data(AnnexB.encode(units).readableBytesView))
    }
    for (number, picture) in pictures.enumerated() {
        try encoder.encode(picture, presentationTime: MediaTime(value: Int64(number), timescale: 30))
    }
    encoder.completeFrames()
    // end
}

/// Decodes asynchronously.
func decodeAsynchronously(_ samples: [SampleBuffer], show: @escaping @Sendable (PixelBuffer) -> Void) async throws {
    guard let format = samples.first?.format else { return }
    // example asynchronous
    let (session, outputs) = try DecompressionSession.withOutputs(format: format, pipelineDepth: 4)
    async let shown: Void = {
        for await output in outputs {
            switch output.result {
            case .picture(let picture): show(picture.pixelBuffer)
            case .dropped(let reason): print("frame \(output.token.rawValue) shows nothing: \(reason)")
            case .failed(let error): print("frame \(output.token.rawValue): \(error)")
            }
        }
    }()
    for (number, sample) in samples.enumerated() {
        // Suspends while four frames wait, or while their outputs have not been read.
        await session.decodeAsynchronously(sample, token: FrameToken(UInt64(number)))
    }
    session.finishDelayedFrames()
    session.invalidate()
    await shown
    // end
}

/// Changes an encoder's rate between two frames.
func adapt(_ encoder: CompressionSession, to rate: BitRate) throws -> BitRate {
    // example properties
    try encoder.set(\.averageBitRate, to: rate)  // from the next frame on, without a keyframe
    try encoder.setProperties {  // all of them, or none and an error
        $0.expectedFrameRate = 15
        $0.maxFrameBytes = DataSize(bytes: 20_000)
    }
    for (property, support) in encoder.supportedProperties where !support.canChangeWhileEncoding {
        print("\(property) is fixed once a frame was taken; it takes \(support.range)")
    }
    let inForce = encoder.properties.averageBitRate  // held within what the H.264 level allows
    // end
    return inForce
}

/// Encodes a recording in several passes.
func encodeInPasses(_ pictures: [PixelBuffer], folder: String, write: (SampleBuffer) -> Void) throws {
    // example passes
    let silo = try FrameSilo(path: folder + "/frames")
    let storage = try MultiPassStorage(path: folder + "/passes")
    var properties = CompressionProperties(averageBitRate: .kilobits(400), profileLevel: H264ProfileLevel(.high))
    properties.realTime = false
    properties.rateControlMode = .average
    properties.allowFrameReordering = true
    properties.multiPassStorage = storage
    let encoder = try CompressionSession(
        dimensions: VideoDimensions(width: 640, height: 360), backEnd: .x264, properties: properties
    ) { output in
        do {
            if let frame = output.frame { try silo.add(frame.sample) }
        } catch {
            print("\(output.presentationTime.seconds) s: \(error)")
        }
    }
    while !encoder.timeRangesForNextPass.isEmpty {
        let ranges = encoder.timeRangesForNextPass  // everything, then the parts that are worth another pass
        try silo.setTimeRangesForNextPass(ranges)
        try encoder.beginPass()
        for (number, picture) in pictures.enumerated() {
            let time = MediaTime(value: Int64(number), timescale: 30)
            guard ranges.contains(where: { $0.contains(time) }) else { continue }
            try encoder.encode(picture, presentationTime: time)
        }
        let result = try encoder.endPass()
        print("pass \(result.pass) made \(result.size) of \(result.targetSize)")
    }
    try silo.forEachSample { write($0) }  // in decoding order
    // end
}
