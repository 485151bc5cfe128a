public import MediaCore

/// A device's driver and its capabilities.
public struct VAAPIDeviceReport: Hashable, Sendable {
    public var device: VAAPIDevice
    /// The driver's name and version in its own words.
    public var driver: String
    public var maximumDimensions: VideoDimensions
    /// The most temporal layers of a stream.
    public var temporalLayers: Int
    /// Its ways to control the rate, as libva names them: `CBR`, `VBR`, `CQP`.
    public var rateControls: [String]
    /// The headers that it takes from its client: `sequence`, `picture`, `slice`.
    public var packedHeaders: [String]
    /// `EncSlice`, or `EncSliceLP` for the low-power encoder.
    public var entryPoint: String

    /// Asks a device. Takes as long as loading its driver does, three seconds at most.
    ///
    /// - Throws: `VideoCodingError.hardwareUnavailable` where it encodes nothing.
    public init(of device: VAAPIDevice) throws(VideoCodingError) {
        #if VAAPI
            let thread = try AbandonableThread<VAAPIDevice, Result<VAAPIDeviceReport, VideoCodingError>>.start {
                { device in Result { () throws(VideoCodingError) in try VAAPIDeviceReport(asking: device) } }
            }
            guard let answer = thread.perform(device, within: .seconds(3)) else { throw .hardwareHung(device) }
            self = try answer.get()
        #else
            throw .backEndNotBuilt(.vaapi)
        #endif
    }

    #if VAAPI
        private init(asking device: VAAPIDevice) throws(VideoCodingError) {
            let display = try VAAPIDisplay(device)
            let capabilities = try VAAPICapabilities(display, .constrainedBaseline)
            guard capabilities.hasRateControl else {
                throw .hardwareUnavailable(reason: "\(display.vendor) controls no bitrate")
            }
            self.device = device
            driver = display.vendor
            maximumDimensions = capabilities.maximumDimensions
            temporalLayers = min(3, capabilities.maximumLayers)
            rateControls = capabilities.rateControlNames
            packedHeaders = capabilities.packedHeaderNames
            entryPoint = capabilities.entryPointName
        }
    #endif
}
