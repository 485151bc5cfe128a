import Conference
import MediaCore
import VideoCoding

/// A back end and its settings, as a relay may use them.
struct EncoderVariant: Codable, Hashable, Sendable {
    var backEnd: String
    var preset: String
    var entropyMode: String
    /// The device that encodes; nil in software.
    var device: String?

    init(_ backEnd: EncoderBackEnd, _ preset: EncoderPreset, _ entropyMode: EntropyMode) {
        self.backEnd = backEnd.rawValue
        self.preset = preset.rawValue
        self.entropyMode = entropyMode.rawValue
    }

    /// A device's encoder, with both entropy codings.
    static func all(of device: VAAPIDevice) -> [EncoderVariant] {
        [EntropyMode.cavlc, .cabac].map { mode in
            var variant = EncoderVariant(.vaapi, .balanced, mode)
            variant.device = device.description
            return variant
        }
    }

    /// The variants that this build has: OpenH264 with both entropy codings, x264 with the better one.
    static var all: [EncoderVariant] {
        EncoderBackEnd.software.filter(\.isBuilt).flatMap { backEnd in
            EncoderPreset.allCases.flatMap { preset in
                let modes: [EntropyMode] = backEnd == .openH264 ? [.cavlc, .cabac] : [.cabac]
                return modes.map { EncoderVariant(backEnd, preset, $0) }
            }
        }
    }

    /// The encoder of a relay without options, for a receiver that takes High profile.
    static func relayDefault() throws(VideoCodingError) -> EncoderVariant {
        let relay = RelayConfiguration()
        let session = try CompressionSession(
            dimensions: Workload.canvas, backEnd: relay.encoder, properties: Workload.encoder, outputHandler: { _ in })
        return EncoderVariant(relay.encoder, relay.encoderPreset, session.properties.entropyMode ?? .cavlc)
    }

    var name: String { "\(backEnd) \(preset) \(entropyMode)" }

    /// A session with the relay's other settings.
    func session(
        at rate: BitRate, _ outputHandler: @escaping @Sendable (EncodeOutput) -> Void
    ) throws -> CompressionSession {
        var properties = Workload.encoder
        properties.averageBitRate = rate
        guard let library = EncoderBackEnd(rawValue: backEnd), let preset = EncoderPreset(rawValue: preset) else {
            throw BenchmarkError.codecFailed(reason: "there is no encoder \(name)")
        }
        properties.preset = preset
        properties.entropyMode = EntropyMode(rawValue: entropyMode)
        return try CompressionSession(
            dimensions: Workload.canvas, backEnd: library, device: device.flatMap(VAAPIDevice.init),
            properties: properties, outputHandler: outputHandler)
    }
}
