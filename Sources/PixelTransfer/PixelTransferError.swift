public import MediaCore

/// The reason for which a picture could not be transferred.
public enum PixelTransferError: Error, Hashable {
    /// A side of the picture, or of its result, is less than 1 or more than 32767 samples.
    case unsupportedDimensions(VideoDimensions)
    /// The distance of the picture's rows, in bytes, is too large to be stated.
    case unsupportedStride(Int)
    /// Rows were asked to be aligned to something else than a power of two up to 4096 bytes.
    case unsupportedAlignment(Int)
    /// The colour matrix (H.273 `MatrixCoefficients`) of the picture is not one that 4:2:0 pictures are converted by.
    case unsupportedMatrix(UInt8)
    /// There was no memory for the work.
    case outOfMemory
}

extension PixelTransferError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedDimensions(let dimensions):
            "pictures of \(dimensions) cannot be transferred; both sides must be from 1 to 32767 samples"
        case .unsupportedStride(let stride):
            "a picture whose rows lie \(stride) bytes apart cannot be transferred; copy it into rows less far apart"
        case .unsupportedAlignment(let alignment):
            "rows cannot be aligned to \(alignment) bytes; ask for a power of two up to 4096"
        case .unsupportedMatrix(let code):
            "colours with the matrix coefficients \(code) cannot be converted between YCbCr and BGRA;"
                + " attach a colour of BT.601 (5, 6), BT.709 (1) or BT.2020 (9), or ask for another format"
        case .outOfMemory:
            "there is no memory to transfer a picture; transfer smaller ones, or fewer at once"
        }
    }
}
