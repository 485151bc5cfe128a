import Foundation
public import MediaCore
import PixelTransfer

/// Writes I420 pictures of one size as a YUV4MPEG2 (`.y4m`) file.
public final class Y4MWriter {
    private let path: String
    private let handle: FileHandle
    private let frameRate: Double
    private var dimensions: VideoDimensions?
    /// The first picture's, which the header describes.
    private var colour = ColourDescription.unspecified
    private var frame: [UInt8] = []

    private static let frameMarker = Array("FRAME\n".utf8)

    /// Creates the file.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public init(path: String, frameRate: Double) throws(MediaFileError) {
        try OutputFile.check(path)
        self.path = path
        self.frameRate = frameRate
        do {
            handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        } catch {
            throw .cannotWrite(path: path, reason: OutputFile.reason(error))
        }
    }

    /// Writes the next picture. Waits for the disk.
    ///
    /// - Throws: `MediaFileError.cannotWrite`, for a picture of another size or format too.
    public func write(_ picture: PixelBuffer) throws(MediaFileError) {
        guard picture.format == .i420, dimensions == nil || dimensions == picture.dimensions else {
            throw .cannotWrite(
                path: path, reason: "all pictures of a Y4M file must be I420 and of one size; write PNG files instead")
        }
        if dimensions == nil {
            dimensions = picture.dimensions
            colour = picture.attachments.colour
            let header = Y4MHeader(dimensions: picture.dimensions, frameRate: frameRate)
            try write(Array(header.line(attachments: picture.attachments).utf8))
        }
        let picture = picture.converted(to: colour)
        frame.removeAll(keepingCapacity: true)
        frame.append(contentsOf: Self.frameMarker)
        for plane in 0..<picture.planeCount {
            let (rowBytes, rows) = picture.format.planeSize(plane, of: picture.dimensions)
            picture.withPlane(plane) { bytes, stride in
                for row in 0..<rows {
                    frame.append(contentsOf: bytes[(row * stride)..<(row * stride + rowBytes)])
                }
            }
        }
        try write(frame)
    }

    /// Ends the file. Nothing is written afterwards.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public func finish() throws(MediaFileError) {
        do {
            try handle.close()
        } catch {
            throw .cannotWrite(path: path, reason: OutputFile.reason(error))
        }
    }

    private func write(_ bytes: [UInt8]) throws(MediaFileError) {
        do {
            try handle.write(contentsOf: Data(bytes))
        } catch {
            throw .cannotWrite(path: path, reason: OutputFile.reason(error))
        }
    }
}

extension PixelBuffer {
    /// The picture, which is I420, with the matrix and range of a colour; itself if it has them.
    fileprivate func converted(to colour: ColourDescription) -> PixelBuffer {
        guard let conversion = ColourConversion(from: attachments.colour, to: colour) else { return self }
        var result = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        result.attachments = attachments
        result.attachments.colour = colour
        result.withI420Region { region in
            withPlanes { region.convert(I420Region(planes: $0, dimensions: dimensions), by: conversion) }
        }
        return result.freeze()
    }
}

extension Y4MHeader {
    init(dimensions: VideoDimensions, frameRate: Double) {
        self.dimensions = dimensions
        self.frameRate = frameRate
    }

    /// The header line for these attachments, with its line feed. H.264 places chroma as MPEG-2 does by default.
    func line(attachments: PixelBufferAttachments) -> String {
        let rate = Self.ratio(frameRate)
        let aspect = attachments.pixelAspectRatio
        let range = attachments.colour.isFullRange ? Self.fullRange : Self.limitedRange
        return "\(Self.magic) W\(dimensions.width) H\(dimensions.height) F\(rate.numerator):\(rate.denominator)"
            + " Ip A\(aspect.width):\(aspect.height) C420mpeg2 \(range)\n"
    }

    /// Returns the rate as a ratio: the simplest exact one, such as 30000:1001, or else to the millionth.
    private static func ratio(_ rate: Double) -> (numerator: Int, denominator: Int) {
        let bounded = min(max(rate, 0.01), 100_000)
        for denominator in 1...1001 {
            let numerator = (bounded * Double(denominator)).rounded()
            if abs(numerator / Double(denominator) - bounded) <= bounded * 1e-9 {
                return (max(1, Int(numerator)), denominator)
            }
        }
        return (Int(clamping: (bounded * 1_000_000).rounded()), 1_000_000)
    }
}
