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
    /// True if a trial has found that its rate control follows a new rate too slowly: then each frame is given a QP.
    public var followsSlowly = false
    /// The longest that an encoder may take for a frame before the device counts as hung.
    package var frameLimit = VAAPIDevice.frameLimit

    /// Asks a device. Takes as long as loading its driver does, three seconds at most.
    ///
    /// - Throws: `VideoCodingError.hardwareUnavailable` where it encodes nothing.
    public init(of device: VAAPIDevice) throws(VideoCodingError) {
        #if VAAPI
            self = try Self.ask(device) { display throws(VideoCodingError) in
                try VAAPIDeviceReport(of: device, on: display)
            }
        #else
            throw .backEndNotBuilt(.vaapi)
        #endif
    }

    #if VAAPI
        /// Has a device answer a question. It may take as long as loading its driver does, three seconds at most.
        static func ask<Answer: Sendable>(
            _ device: VAAPIDevice,
            _ question: @escaping @Sendable (VAAPIDisplay) throws(VideoCodingError) -> Answer
        ) throws(VideoCodingError) -> Answer {
            let thread = try AbandonableThread<VAAPIDevice, Result<Answer, VideoCodingError>>.start {
                { device in
                    Result { () throws(VideoCodingError) in try question(VAAPIDisplay(device)) }
                }
            }
            guard let answer = thread.perform(device, within: .seconds(3)) else { throw .hardwareHung(device) }
            return try answer.get()
        }

        private init(of device: VAAPIDevice, on display: VAAPIDisplay) throws(VideoCodingError) {
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

extension VAAPIDevice {
    /// Asks the device whether it decodes H.264. Returns its driver in its own words.
    ///
    /// - Throws: `VideoCodingError.hardwareUnavailable` where it does not.
    public func decodingDriver() throws(VideoCodingError) -> String {
        #if VAAPI
            try VAAPIDeviceReport.ask(self) { display throws(VideoCodingError) in
                guard VAAPICapabilities.decodes(display) else {
                    throw .hardwareUnavailable(reason: "\(display.vendor) decodes no H.264")
                }
                return display.vendor
            }
        #else
            throw .backEndNotBuilt(.vaapi)
        #endif
    }

    /// Asks the device whether it composes pictures, and has it do so. Returns its driver in its own words.
    ///
    /// - Throws: `VideoCodingError.hardwareUnavailable` where it does not.
    public func composingDriver() throws(VideoCodingError) -> String {
        #if VAAPI
            try VAAPIDeviceReport.ask(self) { display throws(VideoCodingError) in
                try VAAPIProcessContext.tryOut(self)
                return display.vendor
            }
        #else
            throw .backEndNotBuilt(.vaapi)
        #endif
    }
}
