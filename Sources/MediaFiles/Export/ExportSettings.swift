public import MediaCore
public import VideoCoding

/// The settings with which a film is encoded.
public struct ExportSettings: Sendable {
    /// The bound of the film's size or quality.
    public enum Target: Hashable, Sendable {
        /// The rate of the video, on average.
        case bitRate(BitRate)
        /// The size of the whole file.
        case size(DataSize)
        /// One quality throughout, from 0 to 1, in a single pass, whatever size that takes.
        case quality(Double)
    }

    public var dimensions: VideoDimensions
    public var frameRate: Int
    public var target: Target
    public var preset = EncoderPreset.quality

    public init(dimensions: VideoDimensions, frameRate: Int = 30, target: Target) {
        self.dimensions = dimensions
        self.frameRate = frameRate
        self.target = target
    }
}

/// The progress of an export.
public struct ExportProgress: Sendable {
    /// The pass that goes on, from 1; 0 while the audio is measured and mixed, which comes first.
    public var pass: Int
    /// The part of the pass that is done, from 0 to 1.
    public var fraction: Double
    /// The time that the rest of the pass will take at the present pace; nil at its beginning.
    public var remaining: Duration?
    /// The estimated size of the file; nil during the first pass.
    public var estimatedOutputSize: DataSize?
}

/// The reason why a film could not be exported.
public enum ExportError: Error, Equatable, CustomStringConvertible {
    /// There is nothing to show.
    case empty
    /// The size that was asked for is less than the audio takes.
    case tooSmall(DataSize, least: DataSize)
    /// It was cancelled. What is done so far is kept, and used when the export begins again.
    case cancelled

    public var description: String {
        switch self {
        case .empty: "there is nothing to export"
        case .tooSmall(let size, let least):
            "a file of \(size) is too small; the audio and 10 kbit/s of video take \(least)"
        case .cancelled: "cancelled; the same command goes on from here"
        }
    }
}
