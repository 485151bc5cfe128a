/// The measured costs of the relay's work on a device: seconds from handing it over to having the result. Transfers
/// between memory and the device are part of them. A worker waits meanwhile.
public struct DeviceCosts: Sendable, Hashable {
    /// Seconds to decode a frame of 640x360; nil: the processor decodes.
    public var decode: Double?
    /// Seconds that each source and each picture add to a tick; nil: the processor composes.
    public var compose: CompositionCost?
    /// Seconds to encode a composed picture; nil: the processor encodes.
    public var encode: Double?

    public init() {}
}
