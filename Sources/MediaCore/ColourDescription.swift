/// The meaning of a picture's numbers as colours: code points of ITU-T H.273, and the range of the numbers.
public struct ColourDescription: Hashable, Sendable {
    /// `ColourPrimaries`: 1 BT.709, 5 and 6 BT.601, 9 BT.2020; 2 unspecified.
    public var primaries: UInt8
    /// `TransferCharacteristics`: 1 BT.709, 6 BT.601, 13 sRGB; 2 unspecified.
    public var transferCharacteristics: UInt8
    /// `MatrixCoefficients`: 1 BT.709, 5 and 6 BT.601, 9 BT.2020; 2 unspecified.
    public var matrixCoefficients: UInt8
    /// True if black is 0 and white 255, rather than 16 and 235.
    public var isFullRange: Bool

    public init(
        primaries: UInt8 = 2, transferCharacteristics: UInt8 = 2, matrixCoefficients: UInt8 = 2,
        isFullRange: Bool = false
    ) {
        self.primaries = primaries
        self.transferCharacteristics = transferCharacteristics
        self.matrixCoefficients = matrixCoefficients
        self.isFullRange = isFullRange
    }

    /// An unknown colour; such pictures count as limited range.
    public static let unspecified = ColourDescription()
    /// The same, with the code points of BT.601 in place of unspecified ones if the matrix is unspecified. The range
    /// stays.
    public var assumingBT601: ColourDescription {
        guard matrixCoefficients == Self.unspecified.matrixCoefficients else { return self }
        func code(_ own: UInt8, _ other: UInt8) -> UInt8 { own == 2 ? other : own }
        return ColourDescription(
            primaries: code(primaries, Self.bt601.primaries),
            transferCharacteristics: code(transferCharacteristics, Self.bt601.transferCharacteristics),
            matrixCoefficients: Self.bt601.matrixCoefficients, isFullRange: isFullRange)
    }

    /// High definition video, limited range.
    public static let bt709 = ColourDescription(primaries: 1, transferCharacteristics: 1, matrixCoefficients: 1)
    /// Standard definition video (525 lines), limited range.
    public static let bt601 = ColourDescription(primaries: 6, transferCharacteristics: 6, matrixCoefficients: 6)
}
