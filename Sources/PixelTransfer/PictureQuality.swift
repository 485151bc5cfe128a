import CLibYUV
import Glibc
public import MediaCore

/// The similarity of one picture to another of the same size, sample by sample.
public enum PictureQuality {
    /// The squared differences of two 4:2:0 pictures (I420 or NV12, not necessarily the same).
    ///
    /// They add up over a sequence, whose peak signal-to-noise ratio is that of the mean error.
    public static func squaredError(
        _ picture: PixelBuffer, _ reference: PixelBuffer
    ) throws(PictureQualityError) -> SquaredError {
        try compare(picture, reference) { picture, reference in
            func sum(_ plane: Int, _ width: Int32, _ height: Int32) -> SquaredError.Plane {
                SquaredError.Plane(
                    sum: ComputeSumSquareErrorPlane(
                        picture.bytes(plane), picture.stride(plane), reference.bytes(plane), reference.stride(plane),
                        width, height),
                    count: UInt64(width) * UInt64(height))
            }
            let (width, height) = (picture.chromaWidth, picture.chromaHeight)
            return SquaredError(
                y: sum(0, picture.width, picture.height), u: sum(1, width, height), v: sum(2, width, height))
        }
    }

    /// The peak signal-to-noise ratio of two 4:2:0 pictures (I420 or NV12), in dB; infinite if they are equal.
    public static func psnr(
        _ picture: PixelBuffer, _ reference: PixelBuffer
    ) throws(PictureQualityError) -> PeakSignalToNoiseRatio {
        try squaredError(picture, reference).psnr
    }

    /// The structural similarity of the luma of two 4:2:0 pictures: 1 if they are equal, less the more they differ.
    ///
    /// It is the mean of Wang's index (Image Quality Assessment: From Error Visibility to Structural Similarity, 2004,
    /// formula 13, K₁ = 0.01, K₂ = 0.03) over flat windows of 8×8 samples, one every 4 samples across and down, as in
    /// libyuv: the last window ends before the last row and column. So a picture needs 9 samples each way. Other
    /// windows, such as ffmpeg's (also 8×8 and flat, up to the edge) or Wang's Gaussian one, give results that differ
    /// in the third place.
    public static func ssim(_ picture: PixelBuffer, _ reference: PixelBuffer) throws(PictureQualityError) -> Double {
        guard picture.dimensions.width >= 9, picture.dimensions.height >= 9 else {
            throw .tooSmall(picture.dimensions)
        }
        return try compare(picture, reference) { picture, reference in
            CalcFrameSsim(
                picture.bytes(0), picture.stride(0), reference.bytes(0), reference.stride(0),
                picture.width, picture.height)
        }
    }

    /// A structural similarity in dB, −10·log₁₀(1 − ssim), in which equal steps look about equal; infinite for 1.
    public static func decibels(ssim: Double) -> Double {
        -10 * log10(max(0, 1 - ssim))
    }

    /// Calls `body` with the two pictures as I420.
    private static func compare<Result>(
        _ picture: PixelBuffer, _ reference: PixelBuffer,
        _ body: (_ picture: PictureView, _ reference: PictureView) -> Result
    ) throws(PictureQualityError) -> Result {
        guard picture.dimensions == reference.dimensions else {
            throw .differentDimensions(picture.dimensions, reference.dimensions)
        }
        for format in [picture.format, reference.format] where format == .bgra { throw .unsupportedFormat(format) }
        do throws(PixelTransferError) {
            let (picture, reference) = (try planar(picture), try planar(reference))
            return try picture.withView { picture throws(PixelTransferError) in
                try reference.withView { reference throws(PixelTransferError) in body(picture, reference) }
            }
        } catch {
            throw .cannotRead(error)
        }
    }

    private static func planar(_ picture: PixelBuffer) throws(PixelTransferError) -> PixelBuffer {
        try PixelTransferSession(destination: PixelBufferAttributes(formats: [.i420])).transfer(picture)
    }
}

/// The reason for which two pictures could not be compared.
public enum PictureQualityError: Error, Hashable {
    case differentDimensions(VideoDimensions, VideoDimensions)
    case unsupportedFormat(PixelFormat)
    /// The picture has no room for a window.
    case tooSmall(VideoDimensions)
    /// The samples of a picture cannot be read.
    case cannotRead(PixelTransferError)
}

extension PictureQualityError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .differentDimensions(let left, let right):
            "pictures of \(left) and \(right) cannot be compared; scale one to the size of the other"
        case .unsupportedFormat(let format):
            "\(format) pictures cannot be compared; transfer them to i420 or nv12"
        case .tooSmall(let dimensions):
            "pictures of \(dimensions) are too small for structural similarity, which takes 9x9 samples; use psnr"
        case .cannotRead(let error):
            error.description
        }
    }
}
