import AudioMixing
import Compositing
import ConferenceClient
import CongestionControl
import Foundation
import MediaCore
import NIOCore
import VideoCoding

/// The least that a conference can cost: its decodes, compositions and encodes, one after the other on this thread.
///
/// The calls are those that the relay's jobs make, to this package's own sessions over libavcodec, libyuv, OpenH264 and
/// libopus: each participant has its own decoders and Opus encoder, and one compositor makes as many pictures, for as
/// many encoders, as the conference's way asks for. There are no packets, no queues, no other threads and no waiting.
final class CodecFloor {
    private let participants: [SourceID]
    private let requests: [CompositionRequest]
    private let samples: [SampleBuffer]
    private let decoders: [DecodingPipeline]
    private let encoders: [CompressionSession]
    private let outputs = EncodeOutputQueue()
    private let renderer = CompositionRenderer()
    private let opusDecoders: [OpusDecoder]
    private let opusEncoders: [OpusEncoder]
    private let audio: [ByteBuffer]
    private var pictures: [PixelBuffer?]
    private var tick = 0
    private var audioTick = 0

    /// Ticks that settle the encoders' rate control and fill the pools.
    private static let warmUpTicks = 60

    init(way: ConferenceWay, participants count: Int, clip: TestClip) throws {
        participants = (1...count).map { SourceID.camera(ParticipantID(rawValue: UInt64($0))) }
        requests = (0..<way.compositionCount(participants: count)).map { [participants] index in
            let others = participants.filter { $0 != participants[index] }
            return CompositionRequest(grid: way == .personal ? others : participants, canvas: Workload.canvas)
        }
        samples = clip.samples
        pictures = Array(repeating: nil, count: count)
        decoders = participants.map { _ in DecodingPipeline() }
        do {
            encoders = try (0..<way.encoderCount(participants: count)).map { [outputs] _ in
                try CompressionSession(
                    dimensions: Workload.canvas, properties: Workload.encoder, outputHandler: outputs.append)
            }
            opusDecoders = try participants.map { _ in try OpusDecoder() }
            opusEncoders = try participants.map { _ in
                try OpusEncoder(settings: AudioEncoderSettings(bitRate: Workload.allocation.audio))
            }
            audio = try ToneClip.packets()
        } catch {
            throw BenchmarkError.codecFailed(reason: "\(error)")
        }
        // Each decoder starts at the clip's keyframe.
        for index in participants.indices {
            for position in 0..<offset(of: index) { try decode(samples[position], index: index) }
        }
        for _ in 0..<Self.warmUpTicks {
            var cost = FloorCost()
            try videoTick(&cost)
        }
    }

    /// Runs the conference as fast as it goes, for so long. Audio keeps step with the pictures.
    func run(for duration: Duration) throws -> FloorCost {
        var cost = FloorCost()
        let end = ContinuousClock.now + duration
        var audioDue = 0
        repeat {
            try videoTick(&cost)
            audioDue += Workload.audioFrequency
            while audioDue >= Workload.frameRate {
                audioDue -= Workload.frameRate
                try audioTick(&cost)
            }
        } while ContinuousClock.now < end
        return cost
    }

    private func videoTick(_ cost: inout FloorCost) throws {
        let begin = ThreadClock.now()
        for index in participants.indices {
            try decode(samples[(tick + offset(of: index)) % samples.count], index: index)
        }
        let decoded = ThreadClock.now()
        var contents: [SourceID: CompositionSource] = [:]
        for (index, id) in participants.enumerated() {
            let content = pictures[index].map { TileContent.picture($0, isStale: false) } ?? .placeholder()
            contents[id] = CompositionSource(id: id, name: "Load \(id.participant)", content: content)
        }
        let time = MediaTime(value: Int64(tick), timescale: Int32(Workload.frameRate))
        let composed = renderer.render(requests, inputs: CompositionInputs(sources: contents), at: time)
        let finished = ThreadClock.now()
        for (index, encoder) in encoders.enumerated() {
            do {
                let picture = composed[composed.count == 1 ? 0 : index].picture
                try encoder.encode(picture, presentationTime: time)
                if outputs.next()?.frame != nil { cost.encode.count += 1 }
            } catch {
                throw BenchmarkError.codecFailed(reason: error.description)
            }
        }
        let encoded = ThreadClock.now()
        tick += 1
        cost.decode.add(decoded - begin, count: participants.count)
        cost.compose.add(finished - decoded, count: composed.count)
        cost.encode.add(encoded - finished, count: 0)
    }

    /// The participant's position in the clip at the first tick. Participants are apart from each other, as clients are
    /// that joined one after the other.
    private func offset(of index: Int) -> Int { index * samples.count / participants.count }

    private func decode(_ sample: SampleBuffer, index: Int) throws {
        var failure: String?
        decoders[index].decode(sample) { event in
            guard case .output(let output) = event else { return }
            switch output.result {
            case .picture(let picture): pictures[index] = picture.pixelBuffer
            case .dropped(let reason): failure = "a frame was dropped: \(reason)"
            case .failed(let error): failure = error.description
            }
        }
        if let failure { throw BenchmarkError.codecFailed(reason: failure) }
    }

    private func audioTick(_ cost: inout FloorCost) throws {
        do {
            let begin = ThreadClock.now()
            let frames = try opusDecoders.enumerated().map { index, decoder in
                try decoder.decode(audio[(audioTick + index * 5) % audio.count])
            }
            let decoded = ThreadClock.now()
            // A sum of the others, so that the encoder's work is the same; mixing itself is not part of the floor.
            let mixes = frames.indices.map { own in
                (0..<AudioFormat.frameSampleCount).map { sample in
                    let sum = frames.indices.reduce(Float(0)) { $1 == own ? $0 : $0 + frames[$1][sample] }
                    return min(max(sum, -1), 1)
                }
            }
            let mixed = ThreadClock.now()
            for (encoder, mix) in zip(opusEncoders, mixes) { _ = try encoder.encode(mix) }
            let encoded = ThreadClock.now()
            audioTick += 1
            cost.audioDecode.add(decoded - begin, count: frames.count)
            cost.audioEncode.add(encoded - mixed, count: mixes.count)
        } catch {
            throw BenchmarkError.codecFailed(reason: "\(error)")
        }
    }
}

/// The audio of a client, as `confclient load` sends it.
private enum ToneClip {
    /// A second of a tone in packets of 20 ms.
    static func packets() throws -> [ByteBuffer] {
        let source = ToneSource(name: "Load")
        let encoder = try OpusEncoder()
        return try (0..<Workload.audioFrequency).map { _ in try encoder.encode(source.nextFrame()) }
    }
}
