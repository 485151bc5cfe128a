#if VAAPI
    import CLibVA
    import MediaCore

    /// A surface's memory, which other displays of its device may have as surfaces of their own. It outlives the
    /// surface and its display.
    final class VAAPISharedSurface: PictureSurface {
        let device: VAAPIDevice
        /// One layer of two planes, as drivers take it.
        let descriptor: VADRMPRIMESurfaceDescriptor
        private let reader: VAAPISurfaceReader

        /// Shares a surface's memory; nil if the driver does not give it out, or in a form that is not for NV12.
        ///
        /// - Parameter reader: Copies the samples for those who look at them.
        init?(_ surface: VASurfaceID, of display: VAAPIDisplay, reader: VAAPISurfaceReader) {
            var descriptor = VADRMPRIMESurfaceDescriptor()
            let flags = VA_EXPORT_SURFACE_READ_ONLY | VA_EXPORT_SURFACE_WRITE_ONLY | VA_EXPORT_SURFACE_SEPARATE_LAYERS
            let status = vaExportSurfaceHandle(
                display.handle, surface, UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2), UInt32(flags), &descriptor)
            guard status == VA_STATUS_SUCCESS else { return nil }
            guard va_shim_join_layers(&descriptor) != 0 else {
                va_shim_close_objects(&descriptor)
                return nil
            }
            device = reader.device
            self.descriptor = descriptor
            self.reader = reader
        }

        deinit {
            var descriptor = descriptor
            va_shim_close_objects(&descriptor)
        }

        func copySamples(format: PixelFormat, dimensions: VideoDimensions) -> PixelBuffer? {
            format == .nv12 ? reader.read(self, dimensions) : nil
        }
    }

    /// Surfaces of a display whose memory others have.
    struct VAAPIImports {
        /// More than the pictures of one canvas.
        private static let maximumCount = 64

        /// Pictures come again while their decoder lives.
        private var surfaces = VAAPISurfaceSlots<VAAPISharedSurface>(patience: 100)

        /// Begins a use of some surfaces.
        mutating func begin(_ display: VAAPIDisplay) { surfaces.begin(display) }

        mutating func surface(
            of shared: VAAPISharedSurface, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VASurfaceID {
            if let index = surfaces.slots.firstIndex(where: { $0.content === shared }) {
                return surfaces.use(at: index)
            }
            if surfaces.slots.count >= Self.maximumCount, let oldest = surfaces.oldest {
                surfaces.destroy(at: oldest, display)
            }
            let surface = try Self.make(shared.descriptor, display)
            surfaces.add(surface, shared)
            return surface
        }

        mutating func close(_ display: VAAPIDisplay) { surfaces.close(display) }

        private static func make(
            _ descriptor: VADRMPRIMESurfaceDescriptor, _ display: VAAPIDisplay
        ) throws(VideoCodingError) -> VASurfaceID {
            var descriptor = descriptor
            var surface: VASurfaceID = vaInvalid
            let status = withUnsafeMutablePointer(to: &descriptor) { descriptor in
                var attributes = [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: 3)
                for index in attributes.indices {
                    attributes[index].flags = UInt32(VA_SURFACE_ATTRIB_SETTABLE)
                    attributes[index].value.type = VAGenericValueTypeInteger
                }
                attributes[0].type = VASurfaceAttribPixelFormat
                attributes[0].value.value.i = Int32(bitPattern: vaNV12)
                attributes[1].type = VASurfaceAttribMemoryType
                attributes[1].value.value.i = Int32(VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2)
                attributes[2].type = VASurfaceAttribExternalBufferDescriptor
                attributes[2].value.type = VAGenericValueTypePointer
                attributes[2].value.value.p = UnsafeMutableRawPointer(descriptor)
                return vaCreateSurfaces(
                    display.handle, UInt32(VA_RT_FORMAT_YUV420), descriptor.pointee.width, descriptor.pointee.height,
                    &surface, 1, &attributes, 3)
            }
            try VAAPIDisplay.check(status, "vaCreateSurfaces")
            return surface
        }
    }
#endif
