#if VAAPI
    import CLibVA
    import MediaCore

    /// A driver's encoding capabilities for one profile.
    struct VAAPICapabilities {
        let profile: VAProfile
        let entryPoint: VAEntrypoint
        /// `VA_RC_CBR` and the like; 0 if the driver controls no rate.
        let rateControl: UInt32
        /// The headers that the driver takes from its client and does not write itself.
        let packedHeaders: UInt32
        let maximumDimensions: VideoDimensions
        /// Layers that the driver's rate control knows of.
        private let rateControlLayers: Int
        let hasFrameSizeTolerance: Bool
        let hasMaximumFrameSize: Bool

        /// - Throws: When the device encodes nothing of the profile.
        init(_ display: VAAPIDisplay, _ wanted: H264Profile) throws(VideoCodingError) {
            let profile: VAProfile =
                switch wanted {
                case .baseline, .constrainedBaseline: VAProfileH264ConstrainedBaseline
                case .main: VAProfileH264Main
                case .high: VAProfileH264High
                }
            let entryPoints = Self.entryPoints(display, profile)
            guard
                let entryPoint = [VAEntrypointEncSlice, VAEntrypointEncSliceLP].first(where: { wanted in
                    entryPoints.contains { $0 == wanted }
                })
            else {
                throw .hardwareUnavailable(reason: "\(display.vendor) encodes no H.264 of profile \(wanted.rawValue)")
            }
            var attributes = Self.asked.map { VAConfigAttrib(type: $0, value: 0) }
            try VAAPIDisplay.check(
                vaGetConfigAttributes(
                    display.handle, profile, entryPoint, &attributes, Int32(clamping: attributes.count)),
                "vaGetConfigAttributes")
            func value(_ type: VAConfigAttribType) -> UInt32? {
                attributes.first { $0.type == type }.map(\.value).flatMap { $0 == vaUnsupported ? nil : $0 }
            }
            guard let formats = value(VAConfigAttribRTFormat), formats & UInt32(VA_RT_FORMAT_YUV420) != 0 else {
                throw .hardwareUnavailable(reason: "\(display.vendor) encodes no 4:2:0 pictures")
            }
            self.profile = profile
            self.entryPoint = entryPoint
            rateControl = value(VAConfigAttribRateControl) ?? 0
            packedHeaders = value(VAConfigAttribEncPackedHeaders) ?? 0
            maximumDimensions = VideoDimensions(
                width: Int(value(VAConfigAttribMaxPictureWidth) ?? 4096),
                height: Int(value(VAConfigAttribMaxPictureHeight) ?? 4096))
            rateControlLayers = value(VAConfigAttribEncRateControlExt).map { Int($0 & 0xFF) + 1 } ?? 0
            hasFrameSizeTolerance = (value(VAConfigAttribFrameSizeToleranceSupport) ?? 0) != 0
            hasMaximumFrameSize = (value(VAConfigAttribMaxFrameSize) ?? 0) & 1 != 0
        }

        /// Returns true if the device decodes the profiles of calls.
        static func decodes(_ display: VAAPIDisplay) -> Bool {
            [VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High].allSatisfy { profile in
                entryPoints(display, profile).contains { $0 == VAEntrypointVLD }
            }
        }

        private static let asked = [
            VAConfigAttribRTFormat, VAConfigAttribRateControl, VAConfigAttribEncPackedHeaders,
            VAConfigAttribEncMaxRefFrames, VAConfigAttribMaxPictureWidth, VAConfigAttribMaxPictureHeight,
            VAConfigAttribEncRateControlExt, VAConfigAttribFrameSizeToleranceSupport, VAConfigAttribMaxFrameSize,
        ]

        /// The kinds of work that the driver does for a profile.
        static func entryPoints(_ display: VAAPIDisplay, _ profile: VAProfile) -> [VAEntrypoint] {
            var count = vaMaxNumEntrypoints(display.handle)
            guard count > 0 else { return [] }
            var list = [VAEntrypoint](repeating: VAEntrypointVLD, count: Int(count))
            guard vaQueryConfigEntrypoints(display.handle, profile, &list, &count) == VA_STATUS_SUCCESS else {
                return []
            }
            return Array(list.prefix(max(0, Int(count))))
        }

        func packs(_ header: Int32) -> Bool { packedHeaders & UInt32(bitPattern: header) != 0 }

        func controls(_ mode: Int32) -> Bool { rateControl & UInt32(bitPattern: mode) != 0 }

        /// The most temporal layers: those that the rate control knows of, or any where the client writes the slice
        /// headers, in which each picture names its reference.
        var maximumLayers: Int { max(rateControlLayers, packs(VA_ENC_PACKED_HEADER_SLICE) ? 3 : 1) }

        /// True if the rate control is to be told of the layers.
        func tellsLayers(_ layers: Int) -> Bool { layers > 1 && layers <= rateControlLayers }
    }

    /// `VA_ATTRIB_NOT_SUPPORTED`, a macro that Swift does not see.
    private let vaUnsupported: UInt32 = 0x8000_0000

    extension VAAPICapabilities {
        /// True if frames follow a bitrate.
        var hasRateControl: Bool { controls(VA_RC_CBR) || controls(VA_RC_VBR) }

        var rateControlNames: [String] {
            [(VA_RC_CBR, "CBR"), (VA_RC_VBR, "VBR"), (VA_RC_CQP, "CQP")].filter { controls($0.0) }.map(\.1)
        }

        var packedHeaderNames: [String] {
            [
                (VA_ENC_PACKED_HEADER_SEQUENCE, "sequence"), (VA_ENC_PACKED_HEADER_PICTURE, "picture"),
                (VA_ENC_PACKED_HEADER_SLICE, "slice"),
            ].filter { packs($0.0) }.map(\.1)
        }

        var entryPointName: String { entryPoint == VAEntrypointEncSliceLP ? "EncSliceLP" : "EncSlice" }
    }
#endif
