public import CongestionControl
import FlightRecording
import Foundation
public import LinkEmulation
public import MediaCore
public import SecureTransport
public import VideoCoding

/// The options of a client in a room.
public struct JoinOptions: Sendable {
    public var url: RoomURL
    public var name: String
    /// The PIN of the room; nil: it has none.
    public var pin: String?
    /// True if the client follows the room's events in any case, and so knows which moderator ended its call. Otherwise
    /// it follows them only where it needs them to send or to move: many clients are a load by their events alone.
    public var hearsModerators: Bool
    /// Called when the client has to wait in the room's lobby.
    public var onWaiting: @Sendable () -> Void = {}
    public var video: VideoInput
    public var videoSettings: VideoInputSettings
    public var audio: AudioInput
    /// The most that is sent, audio included.
    public var maximumBitRate: BitRate
    /// The controller of the sent rate.
    public var controller: CongestionControllerKind
    /// True if the client sends no more than is visible: pictures of the tile's size, at most at the rate that the
    /// relay asks for.
    public var followsDemand: Bool
    /// True if the client's own picture is wanted in the grid; nil for the relay's default.
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
    /// True if received video is decoded, and not only counted.
    public var decodesVideo: Bool
    /// True if the client receives the room's picture and audio; otherwise it only sends.
    public var receives: Bool
    /// True if the client sends no packet at all, not even RTCP, as ffmpeg receives. It has no video and audio to send,
    /// and its transport is `sdes`.
    public var isSilent: Bool
    /// Sees the client's frames pass; nil for nobody.
    public var observer: (any FrameObserver)?
    /// The file for received video and audio (MP4).
    public var recordPath: String?
    /// The file for the last picture (PNG).
    public var snapshotPath: String?
    /// The file that records the controller's inputs and decisions, and its size limit.
    public var flightRecorderPath: String?
    public var flightRecorderLimit: DataSize

    public init(url: RoomURL, name: String) {
        self.url = url
        self.name = name
        video = .synthetic
        videoSettings = VideoInputSettings()
        audio = .tone
        maximumBitRate = .megabits(1.5)
        hearsModerators = false
        followsDemand = true
        controller = .confrelay
        flightRecorderLimit = FlightRecorder.defaultLimit
        transport = .dtls
        srtpProfiles = [.aeadAES128GCM, .aesCM128HMACSHA1_80]
        encoder = .openH264
        seed = 0
        decodesVideo = true
        receives = true
        isSilent = false
    }

    /// The options of a session of the same client, the first of which is 1. Each writes to files of its own.
    public func numbered(_ number: Int) -> JoinOptions {
        var options = self
        options.recordPath = recordPath.map { Self.path($0, ofSession: number) }
        options.flightRecorderPath = flightRecorderPath.map { Self.path($0, ofSession: number) }
        return options
    }

    /// The file of a session where the first one's is `path`: `call-2.mp4` instead of `call.mp4`.
    public static func path(_ path: String, ofSession number: Int) -> String {
        guard number > 1 else { return path }
        let file = URL(fileURLWithPath: path)
        let numbered = "\(file.deletingPathExtension().path)-\(number)"
        return file.pathExtension.isEmpty ? numbered : "\(numbered).\(file.pathExtension)"
    }

    /// Checks that a file's name does not promise another format than the one that is written.
    ///
    /// - Throws: `ClientError.usage`.
    public static func check(_ path: String, of option: String, isFor format: String) throws(ClientError) {
        let suffix = URL(fileURLWithPath: path).pathExtension
        guard suffix.isEmpty || suffix.lowercased() == format else {
            throw .usage(reason: "\(option) writes \(format.uppercased()) only: '\(path)' must end in .\(format)")
        }
    }

    /// The lowest rate of video.
    static let minimumBitRate = BitRate.kilobits(60)
    static let startBitRate = BitRate.kilobits(500)
}

/// The transport of media to the relay, and the source of its keys.
public enum ClientTransport: String, Sendable, CaseIterable {
    /// The transport of browsers: ICE finds the path (RFC 8445), a DTLS handshake makes the keys (RFC 5764).
    case dtls
    /// The transport of SIP phones, ffmpeg and GStreamer's elements: addresses and keys are in the descriptions (RFC
    /// 4568).
    case sdes
}
