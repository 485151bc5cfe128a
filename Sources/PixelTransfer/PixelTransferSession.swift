public import MediaCore
import Synchronization

/// Passes on pictures that satisfy requirements, and converts others: to another format, size or alignment.
///
/// YCbCr becomes BGRA, and BGRA YCbCr, by the matrix and the range of the picture's colour attachment, or BT.601 in
/// limited range if it is unspecified. All attachments go with the picture, also with BGRA, whose colour states the
/// YCbCr from which it came and which it becomes again. Between 4:2:0 formats samples stay the same. A new size
/// stretches the picture: reduction averages, enlargement interpolates, and the shape of a sample is adjusted.
///
/// Safe to use from any thread. In steady state no picture memory is allocated.
public final class PixelTransferSession: Sendable {
    /// Counts of a session's work since it was made.
    public struct Statistics: Hashable, Sendable {
        /// Pictures that satisfied the attributes and were handed on as they were, without a copy.
        public var passedThrough = 0
        /// Pictures that were converted, scaled or copied into aligned rows.
        public var converted = 0

        public init() {}
    }

    /// The requirements that every returned picture satisfies.
    public let destination: PixelBufferAttributes
    /// The colour of the YCbCr that BGRA becomes; nil: the picture's own.
    private let colour: ColourDescription?
    private let counts = Mutex(Statistics())
    private let results = RecentPool()
    /// Intermediate pictures as large as the source.
    private let sourceScratch = RecentPool()
    /// Intermediate pictures as large as the result.
    private let resultScratch = RecentPool()

    /// - Parameter colour: The colour of the YCbCr that BGRA becomes; nil: as the picture's attachment states.
    public init(destination: PixelBufferAttributes, colour: ColourDescription? = nil) {
        self.destination = destination
        self.colour = colour
    }

    /// Pictures that the pools in use have allocated. Stands still in steady state.
    var pictureAllocations: Int {
        results.allocationCount + sourceScratch.allocationCount + resultScratch.allocationCount
    }

    public var statistics: Statistics { counts.withLock { $0 } }

    /// Returns the picture itself if it satisfies the attributes, else one made from it.
    ///
    /// An acceptable format is kept; otherwise the result has the best acceptable one.
    public func transfer(_ source: PixelBuffer) throws(PixelTransferError) -> PixelBuffer {
        if destination.isSatisfied(by: source) {
            counts.withLock { $0.passedThrough += 1 }
            return source
        }
        let isAcceptable = destination.formats.isEmpty || destination.formats.contains(source.format)
        let format = isAcceptable ? source.format : destination.formats[0]
        let dimensions = destination.dimensions ?? source.dimensions
        let rowAlignment = try Self.usefulAlignment(destination.rowAlignment)
        try PictureView.check(source.dimensions)
        try PictureView.check(dimensions)
        var attachments = source.attachments
        if let colour, source.format == .bgra, format != .bgra { attachments.colour = colour }
        let encoding = (source.format == .bgra) == (format == .bgra) ? nil : try ColourEncoding(attachments.colour)
        var result = results.makeBuffer(format, dimensions, rowAlignment: rowAlignment)
        result.attachments = attachments.scaled(from: source.dimensions, to: dimensions)
        try result.withMutableView { target throws(PixelTransferError) in
            try source.withView { source throws(PixelTransferError) in
                try write(source, to: target, encoding)
            }
        }
        counts.withLock { $0.converted += 1 }
        return result.freeze()
    }

    /// Returns the alignment of results' rows: as required, and enough for every SIMD load.
    private static func usefulAlignment(_ required: Int) throws(PixelTransferError) -> Int {
        guard (1...4096).contains(required), required & (required - 1) == 0 else {
            throw .unsupportedAlignment(required)
        }
        return max(required, 64)
    }

    private func write(
        _ source: PictureView, to target: PictureView, _ encoding: ColourEncoding?
    ) throws(PixelTransferError) {
        if source.dimensions == target.dimensions { return try target.convert(source, encoding: encoding) }
        switch (source.format, target.format) {
        case (.bgra, .bgra):
            var sourceColours = sourceScratch.makeBuffer(.bgra, source.dimensions)
            var colours = resultScratch.makeBuffer(.bgra, target.dimensions)
            try sourceColours.withMutableView { sourceColours throws(PixelTransferError) in
                try colours.withMutableView { colours throws(PixelTransferError) in
                    target.scaleColours(of: source, through: sourceColours, colours)
                }
            }
        // Scaled as 4:2:0, which has the fewest bytes.
        case (.bgra, _):
            var scratch = sourceScratch.makeBuffer(.i420, source.dimensions)
            try scratch.withMutableView { scratch throws(PixelTransferError) in
                try scratch.convert(source, encoding: encoding)
                try scale(scratch, to: target)
            }
        case (_, .bgra):
            var scratch = resultScratch.makeBuffer(.i420, target.dimensions)
            try scratch.withMutableView { scratch throws(PixelTransferError) in
                try scale(source, to: scratch)
                try target.convert(scratch, encoding: encoding)
            }
        default:
            try scale(source, to: target)
        }
    }

    /// Scales a 4:2:0 picture to another, each plane by itself. Interleaved chroma is parted before and merged after,
    /// by way of an I420 picture, of which only the chroma is used.
    private func scale(_ source: PictureView, to target: PictureView) throws(PixelTransferError) {
        target.scalePlane(0, of: source)
        guard source.format == .nv12 else { return try scaleChroma(source, to: target) }
        var scratch = sourceScratch.makeBuffer(.i420, source.dimensions)
        try scratch.withMutableView { scratch throws(PixelTransferError) in
            scratch.splitChroma(of: source)
            try scaleChroma(scratch, to: target)
        }
    }

    private func scaleChroma(_ source: PictureView, to target: PictureView) throws(PixelTransferError) {
        guard target.format == .nv12 else {
            target.scalePlane(1, of: source)
            target.scalePlane(2, of: source)
            return
        }
        var scratch = resultScratch.makeBuffer(.i420, target.dimensions)
        try scratch.withMutableView { scratch throws(PixelTransferError) in
            scratch.scalePlane(1, of: source)
            scratch.scalePlane(2, of: source)
            target.mergeChroma(of: scratch)
        }
    }
}
