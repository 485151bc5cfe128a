extension FixedWidthInteger {
    /// Creates the whole part of a floating-point number, held within the range of this type; zero for what is not a
    /// number. The initializer without a label traps in both cases, and numbers that derive from packets may be any.
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
