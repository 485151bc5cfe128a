import MediaCore
import Synchronization

extension CompressionSession {
    /// The supported properties and their values.
    struct Control {
        /// The properties as they were set, with values left to the encoder.
        var requested: CompressionProperties
        var inForce: CompressionProperties
        /// Counts changes.
        var generation = 0
        /// A frame has been taken: from here on only some properties can change.
        var hasStarted = false
        var format: VideoFormatDescription?
    }

    /// The support of each property by a back end.
    public static func supportedProperties(
        of backEnd: EncoderBackEnd
    ) -> [CompressionProperty: PropertySupport] {
        EncoderCapabilities.supportedProperties(of: backEnd)
    }

    /// The support of each property by this session's back end.
    public var supportedProperties: [CompressionProperty: PropertySupport] { Self.supportedProperties(of: backEnd) }

    /// The values in force. Changes made while a frame is being encoded hold from the next frame on.
    public var properties: CompressionProperties { control.withLock { $0.inForce } }

    /// Sets one property. It does not wait for a frame that is being encoded.
    ///
    /// - Throws: An error if the back end does not support the value, or the property cannot change any more. Then
    ///   nothing changes.
    public func set<Value>(
        _ property: WritableKeyPath<CompressionProperties, Value>, to value: Value
    ) throws(VideoCodingError) {
        try setProperties { $0[keyPath: property] = value }
    }

    /// Sets several properties at once, all or none. Does not wait for a frame that is being encoded.
    public func setProperties(_ change: (inout CompressionProperties) -> Void) throws(VideoCodingError) {
        try control.withLock { control throws(VideoCodingError) in
            // Values left to the encoder are fixed by the first frame.
            var wanted = control.hasStarted ? control.inForce : control.requested
            let before = wanted
            change(&wanted)
            guard wanted != before else { return }
            let inForce = try wanted.resolved(for: dimensions, by: backEnd)
            if control.hasStarted {
                let capabilities = EncoderCapabilities.of(backEnd).properties
                for property in CompressionProperty.allCases
                where inForce.differs(from: control.inForce, in: property) {
                    // The settings that passes have in common stay.
                    let isFixed = control.inForce.multiPassStorage != nil
                    guard !isFixed, capabilities[property]?.isDynamic == true else {
                        throw .propertyNotChangeable(property)
                    }
                }
            }
            control.requested = wanted
            guard inForce != control.inForce else { return }
            control.inForce = inForce
            control.generation &+= 1
        }
    }
}
