extension FixedWidthInteger {
    /// Creates the whole part of a floating-point number, clamped to the range of this type; zero for NaN. The
    /// initializer without a label traps in both cases, and numbers from packets may be anything.
    @inlinable
    public init(clamping value: Double) {
        let whole = value.rounded(.towardZero)
        // The generic conversion takes far longer than the one to Int64.
        if let short = Int64(exactly: whole) {
            self.init(clamping: short)
        } else if let exact = Self(exactly: whole) {
            self = exact
        } else if value.isNaN {
            self = 0
        } else {
            self = value < 0 ? .min : .max
        }
    }
}
