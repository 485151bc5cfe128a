import MediaCore
import Synchronization
import VideoCoding

@testable import Conference

/// Makes encoders of OpenH264, and has all of them behave as a test wants.
final class EncoderWorkshop: Sendable {
    /// What an encoder makes of a picture.
    enum Behaviour {
        case usual
        /// Nothing.
        case leavesOut
        /// A frame that is said to be coarse.
        case coarse
        /// An error, as without memory.
        case fails
    }

    private struct State {
        var behaviour = Behaviour.usual
        var sessions: [CompressionSession] = []
    }

    private let state = Mutex(State())

    var behaviour: Behaviour {
        get { state.withLock(\.behaviour) }
        set { state.withLock { $0.behaviour = newValue } }
    }

    /// How often each session encoded a picture again, the first one's number first.
    var repeated: [Int] { state.withLock { $0.sessions.map(\.statistics.framesRepeated) } }

    var maker: LazyEncoder.Maker {
        { dimensions, properties throws(VideoCodingError) in try self.make(dimensions, properties) }
    }

    private func make(
        _ dimensions: VideoDimensions, _ properties: CompressionProperties
    ) throws(VideoCodingError) -> any PictureEncoding {
        let encoder = try SessionPictureEncoder(dimensions: dimensions, backEnd: .openH264, properties: properties)
        state.withLock { $0.sessions.append(encoder.session) }
        return Encoder(encoder, of: self)
    }

    private final class Encoder: PictureEncoding {
        private let encoder: SessionPictureEncoder
        private let workshop: EncoderWorkshop

        init(_ encoder: SessionPictureEncoder, of workshop: EncoderWorkshop) {
            self.encoder = encoder
            self.workshop = workshop
        }

        var dimensions: VideoDimensions { encoder.dimensions }

        func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
            try encoder.setProperties(change)
        }

        func encode(
            _ picture: PixelBuffer, presentationTime: MediaTime, options: EncodeOptions
        ) throws(VideoCodingError) -> EncodedFrame? {
            let behaviour = workshop.behaviour
            switch behaviour {
            case .leavesOut: return nil
            case .fails: throw .codecUnavailable(reason: "no memory")
            case .usual, .coarse:
                var frame = try encoder.encode(picture, presentationTime: presentationTime, options: options)
                if behaviour == .coarse { frame?.statistics.averageQP = 40 }
                return frame
            }
        }
    }
}
