import CLibYUV
import MediaCore

/// The meaning of YCbCr numbers as red, green and blue: a matrix and a range.
struct ColourEncoding: Hashable {
    enum Matrix: Hashable {
        case bt601
        case bt709
        case bt2020
    }

    var matrix: Matrix
    var isFullRange: Bool

    /// The encoding of a picture's colour (H.273 table 4). An unspecified one counts as BT.601.
    ///
    /// The matrices of FCC (4) and SMPTE 240M (7) count as BT.601 and BT.709, from which they differ little.
    init(_ colour: ColourDescription) throws(PixelTransferError) {
        matrix =
            switch colour.matrixCoefficients {
            case 2, 4, 5, 6: .bt601
            case 1, 7: .bt709
            case 9: .bt2020
            case let code: throw .unsupportedMatrix(code)
            }
        isFullRange = colour.isFullRange
    }

    /// The same, with BT.601 for every matrix that is not for 4:2:0 pictures.
    init(orBT601 colour: ColourDescription) {
        do throws(PixelTransferError) {
            self = try ColourEncoding(colour)
        } catch {
            matrix = .bt601
            isFullRange = colour.isFullRange
        }
    }

    /// The luma of black.
    var black: Double { isFullRange ? 0 : 16 }

    /// The number of levels between black and white.
    var lumaSpan: Double { isFullRange ? 255 : 219 }

    /// The number of levels between the extremes of U or V.
    var chromaSpan: Double { isFullRange ? 255 : 224 }

    /// The weights of red and blue in luma (H.273 table 4).
    var lumaWeights: (red: Double, blue: Double) {
        switch matrix {
        case .bt601: (0.299, 0.114)
        case .bt709: (0.2126, 0.0722)
        case .bt2020: (0.2627, 0.0593)
        }
    }

    /// libyuv's constants for the conversion to red, green and blue; nil if they are too imprecise.
    ///
    /// It calculates in 64ths, up to 2 in all. The weight of U in blue is above that for BT.709 and BT.2020 in limited
    /// range.
    var constants: UnsafePointer<YuvConstants>? {
        switch (matrix, isFullRange) {
        case (.bt601, false): yuv_shim_bt601_limited()
        case (.bt601, true): yuv_shim_bt601_full()
        case (.bt709, true): yuv_shim_bt709_full()
        case (.bt2020, true): yuv_shim_bt2020_full()
        case (.bt709, false), (.bt2020, false): nil
        }
    }
}
