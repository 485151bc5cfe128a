#if VAAPI
    import CLibVA
    import MediaCore
    import PixelTransfer

    /// The abilities of a driver's video processor, in its own words.
    struct VAAPIProcessingCapabilities {
        let blendFlags: UInt32
        let rotationFlags: UInt32
        let hasBGRA: Bool
        /// BT.601 if the driver has it. Otherwise the driver is told no standard, and converts nothing.
        let colourStandard: VAProcColorStandardType
        /// The least side of surfaces, and of their parts.
        let leastSide: Int
        let maximumDimensions: VideoDimensions

        /// Chroma is shared by two columns and rows.
        private static let leastSideOfAny = 2
        /// Where a driver names no largest size.
        private static let usualMaximum = 4096
        /// More than the API has names for.
        private static let listLength = 64

        /// Returns true if the device scales and blends pictures.
        static func processes(_ display: VAAPIDisplay) -> Bool {
            VAAPICapabilities.entryPoints(display, VAProfileNone).contains { $0 == VAEntrypointVideoProc }
        }

        init(_ display: VAAPIDisplay, _ config: VAConfigID, _ context: VAContextID) throws(VideoCodingError) {
            let surfaces = try SurfaceAttributes(display, config)
            guard surfaces.fourccs.contains(vaNV12) else {
                throw .hardwareUnavailable(reason: "\(display.vendor) processes no 4:2:0 pictures")
            }
            // Some drivers fill these lists, others put their own in place.
            var inputStandards = [VAProcColorStandardType](repeating: VAProcColorStandardNone, count: Self.listLength)
            var outputStandards = inputStandards
            var inputFormats = [UInt32](repeating: 0, count: Self.listLength)
            var outputFormats = inputFormats
            var caps = VAProcPipelineCaps()
            var namesBT601 = false
            let status = inputStandards.withUnsafeMutableBufferPointer { inputs in
                outputStandards.withUnsafeMutableBufferPointer { outputs in
                    inputFormats.withUnsafeMutableBufferPointer { sources in
                        outputFormats.withUnsafeMutableBufferPointer { targets in
                            caps.input_color_standards = inputs.baseAddress
                            caps.num_input_color_standards = UInt32(inputs.count)
                            caps.output_color_standards = outputs.baseAddress
                            caps.num_output_color_standards = UInt32(outputs.count)
                            caps.input_pixel_format = sources.baseAddress
                            caps.num_input_pixel_formats = UInt32(sources.count)
                            caps.output_pixel_format = targets.baseAddress
                            caps.num_output_pixel_formats = UInt32(targets.count)
                            let status = vaQueryVideoProcPipelineCaps(display.handle, context, nil, 0, &caps)
                            guard status == VA_STATUS_SUCCESS else { return status }
                            namesBT601 =
                                Self.names601(caps.input_color_standards, caps.num_input_color_standards)
                                && Self.names601(caps.output_color_standards, caps.num_output_color_standards)
                            return status
                        }
                    }
                }
            }
            try VAAPIDisplay.check(status, "vaQueryVideoProcPipelineCaps")
            blendFlags = caps.blend_flags
            rotationFlags = caps.rotation_flags
            hasBGRA = surfaces.fourccs.contains(vaBGRA)
            colourStandard = namesBT601 ? VAProcColorStandardBT601 : VAProcColorStandardNone
            let least = [caps.min_input_width, caps.min_input_height, caps.min_output_width, caps.min_output_height]
            leastSide = max(Self.leastSideOfAny, least.map { Int($0) }.max() ?? 0)
            func most(_ input: UInt32, _ output: UInt32, _ surface: Int?) -> Int {
                let named = [Int(input), Int(output), surface ?? 0].filter { $0 > 0 }
                return named.min() ?? Self.usualMaximum
            }
            maximumDimensions = VideoDimensions(
                width: most(caps.max_input_width, caps.max_output_width, surfaces.maximumWidth),
                height: most(caps.max_input_height, caps.max_output_height, surfaces.maximumHeight))
        }

        private static func names601(_ list: UnsafeMutablePointer<VAProcColorStandardType>?, _ count: UInt32) -> Bool {
            guard let list, count <= listLength else { return false }
            return UnsafeBufferPointer(start: list, count: Int(count)).contains { $0 == VAProcColorStandardBT601 }
        }

        func blends(_ flag: Int32) -> Bool { blendFlags & UInt32(bitPattern: flag) != 0 }

        /// The abilities that callers may use.
        var abilities: CompositingAbilities {
            let turns: [(VideoRotation, Int32)] = [
                (.clockwise90, VA_ROTATION_90), (.rotate180, VA_ROTATION_180), (.clockwise270, VA_ROTATION_270),
            ]
            return CompositingAbilities(
                blendsOpacity: blends(VA_BLEND_GLOBAL_ALPHA),
                // Its colours have to become the canvas's.
                blendsGraphics: hasBGRA && blends(VA_BLEND_PREMULTIPLIED_ALPHA)
                    && colourStandard == VAProcColorStandardBT601,
                rotations: [.none] + turns.filter { rotationFlags & (1 << UInt32($0.1)) != 0 }.map(\.0),
                leastSide: leastSide, maximumDimensions: maximumDimensions)
        }
    }

    /// The formats and sizes of a configuration's surfaces.
    private struct SurfaceAttributes {
        var fourccs: Set<UInt32> = []
        var maximumWidth: Int?
        var maximumHeight: Int?

        init(_ display: VAAPIDisplay, _ config: VAConfigID) throws(VideoCodingError) {
            var count: UInt32 = 0
            try VAAPIDisplay.check(
                vaQuerySurfaceAttributes(display.handle, config, nil, &count), "vaQuerySurfaceAttributes")
            guard count > 0, count < 1024 else { return }
            var list = [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: Int(count))
            try VAAPIDisplay.check(
                vaQuerySurfaceAttributes(display.handle, config, &list, &count), "vaQuerySurfaceAttributes")
            for attribute in list.prefix(Int(count)) {
                let value = attribute.value.value.i
                switch attribute.type {
                case VASurfaceAttribPixelFormat: fourccs.insert(UInt32(bitPattern: value))
                case VASurfaceAttribMaxWidth: maximumWidth = Int(value)
                case VASurfaceAttribMaxHeight: maximumHeight = Int(value)
                default: break
                }
            }
        }
    }
#endif
