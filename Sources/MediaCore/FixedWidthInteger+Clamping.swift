extension FixedWidthInteger {
    /// Creates the whole part of a floating-point number, clamped to the range of this type; zero for NaN. The
    /// initializer without a label traps in both cases, and numbers from packets may be anything.
    @inlinable
    public init(clamping value: Double) {
        if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else if value.isNaN {
            self = 0
        } else {
            self = value < 0 ? .min : .max
        }
    }
}
