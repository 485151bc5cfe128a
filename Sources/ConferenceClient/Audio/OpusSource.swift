import AudioMixing
import Foundation
import MediaCore
import NIOCore

/// A packet of audio, ready to be sent.
struct OutgoingAudio: Sendable {
    var payload: ByteBuffer
    var level: AudioLevel
}

/// Makes a packet of 20 ms of audio each time it is asked. One caller at a time.
protocol OpusSource: AnyObject {
    /// True if packets are ready in memory.
    var isImmediate: Bool { get }
    func nextPacket() throws(ClientError) -> OutgoingAudio
    /// Leaves out packets.
    func skip(_ count: Int)
    func setBitRate(_ rate: BitRate)
}

/// Encodes as it goes.
final class EncodedPCMSource: OpusSource {
    let isImmediate = false
    private let source: any PCMSource
    private let encoder: OpusEncoder

    init(_ source: any PCMSource) throws(ClientError) {
        self.source = source
        do {
            encoder = try OpusEncoder(settings: AudioEncoderSettings())
        } catch {
            throw .failed(reason: "no audio encoder can be made: \(error)")
        }
    }

    func nextPacket() throws(ClientError) -> OutgoingAudio {
        let samples = source.nextFrame()
        do {
            return OutgoingAudio(payload: try encoder.encode(samples), level: Self.level(of: samples))
        } catch {
            throw .failed(reason: "the audio cannot be encoded: \(error)")
        }
    }

    func skip(_ count: Int) { for _ in 0..<count { _ = source.nextFrame() } }

    func setBitRate(_ rate: BitRate) { encoder.setBitRate(rate) }

    /// The level in dB below a full-scale square wave (RFC 6464, 3); over −40 dBov counts as speech.
    private static func level(of samples: [Float]) -> AudioLevel {
        let power = samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(max(samples.count, 1))
        guard power > 1e-12 else { return .silence }
        let decibels = min(127, max(0, -10 * log10(power)))
        return AudioLevel(decibelsBelowOverload: UInt8(clamping: decibels.rounded()), isVoice: decibels < 40)
    }
}

/// Repeats packets that were encoded once.
final class OpusClipSource: OpusSource {
    let isImmediate = true
    private let clip: [OutgoingAudio]
    private var index = 0

    /// - Parameter clip: At least one packet.
    init(clip: [OutgoingAudio]) {
        self.clip = clip
    }

    func nextPacket() throws(ClientError) -> OutgoingAudio {
        guard !clip.isEmpty else { throw .failed(reason: "there is no audio to send") }
        defer { index = (index + 1) % clip.count }
        return clip[index]
    }

    func skip(_ count: Int) { if !clip.isEmpty { index = (index + count) % clip.count } }

    func setBitRate(_ rate: BitRate) {}

    /// Encodes a second of a name's tone.
    static func makeClip(name: String) throws(ClientError) -> [OutgoingAudio] {
        let source = try EncodedPCMSource(ToneSource(name: name))
        var clip: [OutgoingAudio] = []
        for _ in 0..<50 { clip.append(try source.nextPacket()) }
        return clip
    }
}
