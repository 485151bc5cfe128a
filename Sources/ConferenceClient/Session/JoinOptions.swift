public import CongestionControl
import FlightRecording
public import LinkEmulation
public import MediaCore
public import SecureTransport
public import VideoCoding

/// What a client is to do in a room.
public struct JoinOptions: Sendable {
    public var url: RoomURL
    public var name: String
    public var video: VideoInput
    public var videoSettings: VideoInputSettings
    public var audio: AudioInput
    /// The most that is sent, audio included.
    public var maximumBitRate: BitRate
    /// What decides how much is sent.
    public var controller: CongestionControllerKind
    /// Whether no more is sent than is seen: pictures of the tile's size, and no more bits than the relay asks for.
    public var followsDemand: Bool
    /// Whether one's own picture is wanted in the grid; nil for as the relay does it.
    public var showsSelfView: Bool?
    /// Slow networks in the client's ways out and in; nil for none.
    public var uplink: LinkProfile?
    public var downlink: LinkProfile?
    public var transport: ClientTransport
    /// The SRTP profiles to offer over SDES, the best first. A DTLS handshake chooses by itself, AES-GCM if it can.
    public var srtpProfiles: [SRTPProfile]
    public var encoder: EncoderBackEnd
    /// Seeds everything random but keys: losses, sequence numbers, report intervals.
    public var seed: UInt64
    /// Whether received video is decoded, or only received and counted.
    public var decodesVideo: Bool
    /// Where received video and audio are recorded (MP4).
    public var recordPath: String?
    /// Where the last picture goes (PNG).
    public var snapshotPath: String?
    /// Where is recorded what the controller is told and decides, and what this may grow to.
    public var flightRecorderPath: String?
    public var flightRecorderLimit: DataSize

    public init(url: RoomURL, name: String) {
        self.url = url
        self.name = name
        video = .synthetic
        videoSettings = VideoInputSettings()
        audio = .tone
        maximumBitRate = .megabits(1.5)
        followsDemand = true
        controller = .confrelay
        flightRecorderLimit = FlightRecorder.defaultLimit
        transport = .dtls
        srtpProfiles = [.aeadAES128GCM, .aesCM128HMACSHA1_80]
        encoder = .openH264
        seed = 0
        decodesVideo = true
    }

    /// Video below this rate is no video.
    static let minimumBitRate = BitRate.kilobits(60)
    static let startBitRate = BitRate.kilobits(500)
}
