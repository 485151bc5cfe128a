import CLibYUV
import MediaCore

extension PictureView {
    /// Writes the samples of a picture of the same size, in this picture's format.
    ///
    /// - Parameter encoding: The meaning of YCbCr, if one of the two is BGRA.
    func convert(_ source: PictureView, encoding: ColourEncoding?) throws(PixelTransferError) {
        switch (source.format, format) {
        case (.i420, .i420):
            copyPlane(0, of: source, width, height)
            copyPlane(1, of: source, chromaWidth, chromaHeight)
            copyPlane(2, of: source, chromaWidth, chromaHeight)
        case (.nv12, .nv12):
            copyPlane(0, of: source, width, height)
            copyPlane(1, of: source, chromaWidth * 2, chromaHeight)
        case (.bgra, .bgra):
            copyPlane(0, of: source, width * 4, height)
        case (.i420, .nv12):
            copyPlane(0, of: source, width, height)
            mergeChroma(of: source)
        case (.nv12, .i420):
            copyPlane(0, of: source, width, height)
            splitChroma(of: source)
        case (.i420, .bgra), (.nv12, .bgra):
            guard let encoding else { break }
            try convertToColours(source, encoding)
        case (.bgra, .i420), (.bgra, .nv12):
            guard let encoding else { break }
            try convertFromColours(source, encoding)
        }
    }

    private func convertToColours(_ source: PictureView, _ encoding: ColourEncoding) throws(PixelTransferError) {
        guard let constants = encoding.constants else { return BGRAWriter(encoding).write(source, to: self) }
        let code =
            if source.format == .nv12 {
                NV12ToARGBMatrix(
                    source.bytes(0), source.stride(0), source.bytes(1), source.stride(1), bytes(0), stride(0),
                    constants, width, height)
            } else {
                I420ToARGBMatrix(
                    source.bytes(0), source.stride(0), source.bytes(1), source.stride(1),
                    source.bytes(2), source.stride(2), bytes(0), stride(0), constants, width, height)
            }
        try Self.check(code)
    }

    private func convertFromColours(_ source: PictureView, _ encoding: ColourEncoding) throws(PixelTransferError) {
        switch (format, encoding.matrix, encoding.isFullRange) {
        case (.i420, .bt601, false):
            try Self.check(
                ARGBToI420(
                    source.bytes(0), source.stride(0), bytes(0), stride(0), bytes(1), stride(1), bytes(2), stride(2),
                    width, height))
        case (.i420, .bt601, true):
            try Self.check(
                ARGBToJ420(
                    source.bytes(0), source.stride(0), bytes(0), stride(0), bytes(1), stride(1), bytes(2), stride(2),
                    width, height))
        case (.nv12, .bt601, false):
            try Self.check(
                ARGBToNV12(
                    source.bytes(0), source.stride(0), bytes(0), stride(0), bytes(1), stride(1), width, height))
        default:
            // libyuv has no way from BGRA to these.
            YCbCrWriter(encoding).write(source, to: self)
        }
    }

    /// Interleaves the U and V planes of an I420 picture of the same size in this NV12 picture.
    func mergeChroma(of source: PictureView) {
        MergeUVPlane(
            source.bytes(1), source.stride(1), source.bytes(2), source.stride(2), bytes(1), stride(1),
            chromaWidth, chromaHeight)
    }

    /// Parts the U and V samples of an NV12 picture of the same size into the planes of this I420 picture.
    func splitChroma(of source: PictureView) {
        SplitUVPlane(
            source.bytes(1), source.stride(1), bytes(1), stride(1), bytes(2), stride(2), chromaWidth, chromaHeight)
    }

    private func copyPlane(_ plane: Int, of source: PictureView, _ rowBytes: Int32, _ rows: Int32) {
        CopyPlane(source.bytes(plane), source.stride(plane), bytes(plane), stride(plane), rowBytes, rows)
    }

    /// Checks the result of libyuv, which is zero on success; with correct arguments only memory can be missing.
    private static func check(_ code: Int32) throws(PixelTransferError) {
        guard code == 0 else { throw .outOfMemory }
    }
}
