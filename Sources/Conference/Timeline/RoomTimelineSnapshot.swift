public import Compositing
public import MediaCore

/// The last minute of a room and its next second, for `GET /rooms/{room}/debug`.
///
/// Times are in seconds from the moment of the snapshot, negative before it. Figures come in buckets of a tenth of a
/// second, oldest first: bucket `index` begins at `firstBucket + index * bucketDuration`, and the last is not over. A
/// figure covers its bucket unless stated otherwise.
public struct RoomTimelineSnapshot: Codable, Hashable, Sendable {
    public var room: String
    /// The duration of a bucket in seconds.
    public var bucketDuration = 0.1
    /// The start of the first bucket.
    public var firstBucket = -59.9
    public var bucketCount = 600
    /// Seconds from one video tick to the next.
    public var tickInterval = 1.0 / 30
    public var ticks = Ticks()
    public var sources: [Source] = []
    public var views: [View] = []
    public var audio: [Audio] = []
    public var mix = Mix()
    public var encoders: [Encoder] = []
    /// Rows that there was no room for.
    public var rowsLeftOut: UInt64 = 0
    /// The measures of overload control in force, in a sentence; nil for none.
    public var measures: String?

    public func start(ofBucket index: Int) -> Double { firstBucket + Double(index) * bucketDuration }

    /// The video ticks, at which pictures are composed.
    public struct Ticks: Codable, Hashable, Sendable {
        /// Ticks at which the room looked at its sources.
        public var taken: [UInt16] = []
        /// Ticks that never were: the relay was too busy to come to the room.
        public var skipped: [UInt16] = []
        /// Ticks left out because the composition before was not done.
        public var missed: [UInt16] = []
        public var composed: [UInt16] = []
        /// Compositions that were done after the next tick was due.
        public var late: [UInt16] = []
        public var rendered: [UInt16] = []
        /// Pictures handed out again because nothing had changed.
        public var reused: [UInt16] = []
        /// Pictures of sources handed out as they were.
        public var passedThrough: [UInt16] = []
        /// Pictures that stood in for ones that could not be composed.
        public var fellBack: [UInt16] = []
        /// Milliseconds from a tick until its pictures were there, at most; 0 if there were none.
        public var slowest: [Double] = []
    }

    /// A present or former participant of the room.
    public struct Person: Codable, Hashable, Sendable {
        /// The participant's id in URLs.
        public var id: String
        public var name: String
        /// True for a receiver that gets a source's own packets, for which nothing is composed.
        public var isPassedThrough: Bool?
    }

    /// The state of a source for its viewers.
    public enum SourceState: String, Codable, Hashable, Sendable {
        /// No picture has come yet.
        case waiting
        case playing
        /// The last picture stands still: no new one has come for too long.
        case frozen
        /// No packet has come for so long that the picture was replaced by a placeholder.
        case gone
        /// The source is not visible, so that only keyframes are decoded; or it is visible again, and the next keyframe
        /// is awaited.
        case unseen
        /// The participant has turned it off, or no longer sends it.
        case off
    }

    /// The reason for which a picture stands still.
    public enum FreezeCause: String, Codable, Hashable, Sendable {
        /// No packet came from its sender.
        case nothingArrived
        /// Packets were lost on the way to the relay, and frames were of no use without them.
        case packetsLost
        /// Frames came, and the decoder could not use them.
        case undecodable
        /// Frames came, but the relay had no time to decode them.
        case relayBusy
    }

    /// A span in which a source looked the same way.
    public struct StateSpan: Codable, Hashable, Sendable {
        public var state: SourceState
        public var start: Double
        /// The end; nil while it continues.
        public var end: Double?
        /// The reason for `frozen` and `gone`, if it is known.
        public var cause: FreezeCause?
    }

    /// A source's pictures began to be of another size, upright.
    public struct FormatChange: Codable, Hashable, Sendable {
        public var time: Double
        public var width: Int
        public var height: Int
    }

    /// A source's way to the compositor.
    public struct Source: Codable, Hashable, Sendable {
        public var person: Person
        public var content = SourceContent.camera
        /// The start of its row.
        public var began: Double
        /// The time at which it was last there; nil while it is.
        public var ended: Double?
        /// Frames that arrived, complete or abandoned.
        public var arrived: [UInt16] = []
        /// Frames that were not decoded because their references were lost.
        public var withheld: [UInt16] = []
        public var packetsLost: [UInt16] = []
        public var keyframes: [UInt16] = []
        /// Keyframes that the relay asked for.
        public var keyframeRequests: [UInt16] = []
        public var decoded: [UInt16] = []
        /// Frames dropped before or by the decoder.
        public var dropped: [UInt16] = []
        /// Frames left out on purpose.
        public var skipped: [UInt16] = []
        /// The decode skip mode now.
        public var skipMode = DecodeSkipMode.full
        public var states: [StateSpan] = []
        public var formats: [FormatChange] = []
    }

    /// The instructions of some receivers' picture, in order of time.
    public struct View: Codable, Hashable, Sendable {
        public var receivers: [Person]
        public var width: Int
        public var height: Int
        public var instructions: [Instruction] = []
        /// Errors of the instructions.
        public var issues: [String] = []
    }

    /// What a view shows for a while.
    public struct Instruction: Codable, Hashable, Sendable {
        public var start: Double
        /// The end of the instruction; nil if it holds until further notice.
        public var end: Double?
        public var layers: [Layer] = []
        public var overlayCount = 0
        /// True if layers move or fade.
        public var containsTweening = false
        /// The source whose picture is shown unchanged.
        public var passthrough: String?
    }

    /// A source in a view; places and sizes are in samples of the canvas.
    public struct Layer: Codable, Hashable, Sendable {
        /// The participant and the content.
        public var source: String
        public var x: Int
        public var y: Int
        public var width: Int
        public var height: Int
        public var opacity: Double = 1
        public var opacityRamps: [Ramp] = []
        /// True if its rectangle changes.
        public var isMoving = false
    }

    /// A change of opacity.
    public struct Ramp: Codable, Hashable, Sendable {
        public var start: Double
        public var end: Double
        public var from: Double
        public var to: Double
        public var easing: Easing
    }

    /// The sum of all audio. Mixes without a participant's own audio have limiters of their own.
    public struct Mix: Codable, Hashable, Sendable {
        /// The lowest gain of the limiter, 0 to 1: below one if the sum is too loud.
        public var limiterGain: [Double] = []
        /// Packets encoded.
        public var encodes: [UInt16] = []
    }

    /// A participant's audio, and its mix.
    public struct Audio: Codable, Hashable, Sendable {
        public var person: Person
        /// The time at which it was last there; nil while it is.
        public var ended: Double?
        /// The loudest, in decibels below overload; 127 is silence, nil if no audio is sent.
        public var level: [UInt8?] = []
        /// Its mean gain in the mix: 0 if it was left out.
        public var gain: [Double] = []
        public var isVoice: [Bool] = []
        /// Milliseconds made up for lost or late packets.
        public var concealed: [UInt16] = []
        /// The highest level of its mix, as `level`; nil if it hears nothing.
        public var mixLevel: [UInt8?] = []
    }

    /// A keyframe that a receiver asked for.
    public struct KeyframeRequest: Codable, Hashable, Sendable {
        public var time: Double
        public var name: String
    }

    /// Frames of a shared encoder that were dropped for one receiver alone.
    public struct LayerDrops: Codable, Hashable, Sendable {
        public var person: Person
        public var frames: Int
    }

    /// An encoder with its receivers.
    public struct Encoder: Codable, Hashable, Sendable {
        /// A number that no other encoder of the relay has.
        public var id: UInt64
        public var members: [Person]
        public var width: Int
        public var height: Int
        /// Pictures a second that are encoded at most.
        public var maximumFrameRate: Int
        /// The time at which it was last there; nil while it is.
        public var ended: Double?
        /// Its target bitrate, in kbit/s; nil if there was no encoder.
        public var targetBitRate: [UInt32?] = []
        public var encoded: [UInt16] = []
        /// Pictures left out, for want of time or because the network is behind.
        public var leftOut: [UInt16] = []
        public var keyframes: [UInt16] = []
        /// Ticks at which data waited for a member's network.
        public var waiting: [UInt16] = []
        /// Keyframes that members asked for.
        public var keyframeRequests: [KeyframeRequest] = []
        /// Receivers for which alone frames were dropped, with the number in the last minute.
        public var layerDrops: [LayerDrops] = []
        /// An explanation of each member's pictures, in their order; empty if the encoder has ended.
        public var explanations: [String] = []
    }
}
