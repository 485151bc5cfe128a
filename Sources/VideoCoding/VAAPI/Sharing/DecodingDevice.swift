/// The device that decodes a stream, and what becomes of its pictures.
struct DecodingDevice: Sendable {
    let device: VAAPIDevice
    #if VAAPI
        /// Reads pictures that stay on the device; nil: all are copied into memory at once.
        let reader: VAAPISurfaceReader?
    #endif

    /// - Parameters:
    ///   - counter: Counts the pictures that are read, if they stay on the device; nil: none do.
    ///   - frameLimit: The longest that a picture may take to be read before the device counts as hung.
    init(_ device: VAAPIDevice, counter: SurfaceCopyCounter?, frameLimit: Duration) {
        self.device = device
        #if VAAPI
            reader = counter.map { VAAPISurfaceReader(device, counter: $0, frameLimit: frameLimit) }
        #endif
    }
}
