/// A request for a film of a recording, as JSON; nil: as `confrelay archive` has it by default.
public struct ExportRequest: Codable, Hashable, Sendable {
    /// The name of a layout that is about nobody in particular; nil: the film is laid out as the room was.
    public var layout: String?
    /// Width and height in pixels, such as `1280x720`.
    public var canvas: String?
    /// Pictures a second.
    public var frameRate: Int?
    /// The video's average in bits a second.
    public var bitrate: Int?
    /// The whole file's size in bytes.
    public var size: Int?
    /// One quality throughout, from 0 to 1.
    public var quality: Double?

    public init(
        layout: String? = nil, canvas: String? = nil, frameRate: Int? = nil, bitrate: Int? = nil, size: Int? = nil,
        quality: Double? = nil
    ) {
        self.layout = layout
        self.canvas = canvas
        self.frameRate = frameRate
        self.bitrate = bitrate
        self.size = size
        self.quality = quality
    }
}

/// A film that a relay makes, or has made, of a recording.
public struct RecordingExport: Codable, Hashable, Sendable {
    public enum State: String, Codable, Hashable, Sendable {
        /// Others come first.
        case queued
        case running
        /// It waits until the calls need less of the machine.
        case paused
        /// The files are there.
        case complete
        case failed
    }

    public var id: String
    public var recording: String
    public var state: State
    /// The request for the film.
    public var request: ExportRequest
    /// The pass that goes on: 0 for the audio, from 1 on for the pictures; nil while none does.
    public var pass: Int?
    /// The part of the pass that is done, from 0 to 1.
    public var progress: Double?
    /// The time that the rest of the pass will take, in seconds; nil while it is not known.
    public var remaining: Double?
    /// The estimated size of the film, in bytes; nil during the first pass.
    public var estimatedSize: Int?
    /// The size of the film, in bytes; nil before it is complete.
    public var size: Int?
    /// The files that were made, as paths in the recording's folder.
    public var files: [String]?
    /// The reason of its failure; nil if it did not fail.
    public var error: String?

    public init(id: String, recording: String, state: State, request: ExportRequest) {
        self.id = id
        self.recording = recording
        self.state = state
        self.request = request
    }
}

/// The films of a recording, the newest first.
public struct RecordingExportList: Codable, Hashable, Sendable {
    public var exports: [RecordingExport]

    public init(_ exports: [RecordingExport]) {
        self.exports = exports
    }
}
