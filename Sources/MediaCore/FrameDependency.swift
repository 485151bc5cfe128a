/// The dependencies of other frames on a frame, if known: they decide which frames can be dropped when there is no time
/// or room for all.
public struct FrameDependency: Hashable, Sendable {
    /// True if other frames refer to this one (`nal_ref_idc` other than 0); nil if unknown.
    public var isDependedOn: Bool?
    /// The layer of a temporal hierarchy: a frame refers to none of a higher layer, and layer 0 can do without the
    /// others. Nil if unknown.
    public var temporalLayer: Int?

    public init(isDependedOn: Bool? = nil, temporalLayer: Int? = nil) {
        self.isDependedOn = isDependedOn
        self.temporalLayer = temporalLayer
    }

    public static let unknown = FrameDependency()
}
