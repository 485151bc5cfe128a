/// The device that decodes a stream, and what becomes of its pictures.
struct DecodingDevice: Sendable {
    let device: VAAPIDevice
    #if VAAPI
        /// Reads pictures that stay on the device; nil: all are copied into memory at once.
        let reader: VAAPISurfaceReader?
    #endif

    /// - Parameter counter: Counts the pictures that are read, if they stay on the device; nil: none do.
    init(_ device: VAAPIDevice, counter: SurfaceCopyCounter? = nil) {
        self.device = device
        #if VAAPI
            reader = counter.map { VAAPISurfaceReader(device, counter: $0) }
        #endif
    }
}
