public import MediaCore

/// A conversion of YCbCr samples from one matrix and range to another (H.273 8.3), as one linear step.
///
/// It converts the matrix and the range, but neither primaries nor transfer characteristics: those of BT.601 and BT.709
/// differ too little to be visible side by side, and converting them would need linear light.
///
/// The arithmetic is in 16 bits, within one level of the exact result.
public struct ColourConversion: Hashable, Sendable {
    private let lumaOfLuma: ColourWeight
    private let lumaOfU: ColourWeight
    private let lumaOfV: ColourWeight
    private let uOfU: ColourWeight
    private let uOfV: ColourWeight
    private let vOfU: ColourWeight
    private let vOfV: ColourWeight
    /// The constant that is added to each sum, in 2^-5: the offsets of black and grey, and one half for rounding.
    private let lumaOffset: Int16
    private let uOffset: Int16
    private let vOffset: Int16

    /// Makes the conversion from one colour to another; nil if both have the same matrix and range, so that the samples
    /// have the same meaning.
    ///
    /// A matrix that is unspecified, reserved or not for 4:2:0 pictures counts as BT.601: the code comes from the
    /// sender, and a picture in wrong hues is better than none.
    public init?(from source: ColourDescription, to target: ColourDescription) {
        let (old, new) = (ColourEncoding(orBT601: source), ColourEncoding(orBT601: target))
        guard old != new else { return nil }
        let (oldRed, oldBlue) = old.lumaWeights
        let (newRed, newBlue) = new.lumaWeights
        let (oldGreen, newGreen) = (1 - oldRed - oldBlue, 1 - newRed - newBlue)
        // R = Y + redOfV V and B = Y + blueOfU U, for Y from 0 to 1, U and V around zero.
        let (redOfV, blueOfU) = (2 * (1 - oldRed), 2 * (1 - oldBlue))
        // The difference between the new and the old luma; zero if the matrix is the same.
        let shiftOfU = newBlue * blueOfU - newGreen * oldBlue * blueOfU / oldGreen
        let shiftOfV = newRed * redOfV - newGreen * oldRed * redOfV / oldGreen
        let (luma, chroma) = (new.lumaSpan / old.lumaSpan, new.chromaSpan / old.chromaSpan)
        lumaOfLuma = ColourWeight(luma)
        lumaOfU = ColourWeight(shiftOfU * new.lumaSpan / old.chromaSpan)
        lumaOfV = ColourWeight(shiftOfV * new.lumaSpan / old.chromaSpan)
        uOfU = ColourWeight((blueOfU - shiftOfU) / (2 * (1 - newBlue)) * chroma)
        uOfV = ColourWeight(-shiftOfV / (2 * (1 - newBlue)) * chroma)
        vOfU = ColourWeight(-shiftOfU / (2 * (1 - newRed)) * chroma)
        vOfV = ColourWeight((redOfV - shiftOfV) / (2 * (1 - newRed)) * chroma)
        func offset(_ level: Double, _ black: Double, _ weight: ColourWeight?, _ u: ColourWeight, _ v: ColourWeight)
            -> Int16
        {
            let zero = level - (weight?.value ?? 0) * black - (u.value + v.value) * 128
            return Int16(((zero + 0.5) * 32).rounded())
        }
        lumaOffset = offset(new.black, old.black, lumaOfLuma, lumaOfU, lumaOfV)
        uOffset = offset(128, 0, nil, uOfU, uOfV)
        vOffset = offset(128, 0, nil, vOfU, vOfV)
    }
}

/// The weight of a sample in a sum: a multiple of 2^-15 between -2 and 2.
private struct ColourWeight: Hashable {
    /// The upper and the lower byte of the magnitude: two products fit in 16 bits if one of both would not.
    let upper: UInt16
    let lower: UInt16
    /// The sign: 1 or -1.
    let sign: Int16

    init(_ value: Double) {
        let magnitude = UInt16((abs(value) * 32768).rounded())
        upper = magnitude >> 8
        lower = magnitude & 0xFF
        sign = value < 0 ? -1 : 1
    }

    var value: Double { Double(upper << 8 | lower) / 32768 * Double(sign) }
}

/// Sixteen by two luma samples with their chroma.
struct ColourBlock {
    static let width = 16

    var top: SIMD16<UInt8>
    var bottom: SIMD16<UInt8>
    var u: SIMD8<UInt8>
    var v: SIMD8<UInt8>
}

extension ColourConversion {
    @inline(__always)
    func convert(_ block: inout ColourBlock) {
        let u = SIMD8<UInt16>(truncatingIfNeeded: block.u)
        let v = SIMD8<UInt16>(truncatingIfNeeded: block.v)
        let shift = Self.term(u, lumaOfU) &+ Self.term(v, lumaOfV) &+ lumaOffset
        var shifts = SIMD16<Int16>()
        shifts.evenHalf = shift
        shifts.oddHalf = shift
        block.top = luma(block.top, shifts)
        block.bottom = luma(block.bottom, shifts)
        block.u = Self.level(Self.term(u, uOfU) &+ Self.term(v, uOfV) &+ uOffset)
        block.v = Self.level(Self.term(u, vOfU) &+ Self.term(v, vOfV) &+ vOffset)
    }

    @inline(__always)
    private func luma(_ samples: SIMD16<UInt8>, _ shifts: SIMD16<Int16>) -> SIMD16<UInt8> {
        let light = SIMD16<UInt16>(truncatingIfNeeded: samples)
        let product = (light &* lumaOfLuma.upper &+ (light &* lumaOfLuma.lower) &>> 8) &>> 2
        let sum = SIMD16<Int16>(truncatingIfNeeded: product) &+ shifts
        return SIMD16<UInt8>(
            truncatingIfNeeded: (sum &>> 5).clamped(lowerBound: SIMD16(), upperBound: SIMD16(repeating: 255)))
    }

    /// Samples times a weight, in 2^-5.
    @inline(__always)
    private static func term(_ samples: SIMD8<UInt16>, _ weight: ColourWeight) -> SIMD8<Int16> {
        let product = (samples &* weight.upper &+ (samples &* weight.lower) &>> 8) &>> 2
        return SIMD8<Int16>(truncatingIfNeeded: product) &* weight.sign
    }

    @inline(__always)
    private static func level(_ sum: SIMD8<Int16>) -> SIMD8<UInt8> {
        SIMD8<UInt8>(
            truncatingIfNeeded: (sum &>> 5).clamped(lowerBound: SIMD8(), upperBound: SIMD8(repeating: 255)))
    }
}
