#if VAAPI
    import CLibVA
    import Glibc

    /// libva's connection to a device. Each encoder has its own, so that a call which hangs holds nobody else's lock.
    final class VAAPIDisplay {
        let handle: VADisplay
        private let file: Int32

        /// - Throws: `hardwareUnavailable`, with a reason that does not name the device: who tells of it does.
        init(_ device: VAAPIDevice) throws(VideoCodingError) {
            switch device {
            case .renderNode(let path):
                file = open(path, O_RDWR | O_CLOEXEC)
                guard file >= 0 else {
                    throw .hardwareUnavailable(reason: "it cannot be opened: \(String(cString: strerror(errno)))")
                }
                guard let display = vaGetDisplayDRM(file) else {
                    close(file)
                    throw .hardwareUnavailable(reason: "it is no DRM device")
                }
                handle = display
            case .driver(let name):
                file = -1
                guard let display = va_shim_display_of_driver(name) else {
                    throw .hardwareUnavailable(reason: "libva made no display")
                }
                handle = display
            }
            // libva would write to stderr.
            vaSetInfoCallback(handle, nil, nil)
            vaSetErrorCallback(handle, nil, nil)
            var (major, minor): (Int32, Int32) = (0, 0)
            let status = vaInitialize(handle, &major, &minor)
            guard status == VA_STATUS_SUCCESS else {
                // Terminating frees the display even where no driver was loaded.
                vaTerminate(handle)
                if file >= 0 { close(file) }
                throw .hardwareUnavailable(
                    reason: "libva finds no driver (\(String(cString: vaErrorStr(status))))")
            }
        }

        deinit {
            vaTerminate(handle)
            if file >= 0 { close(file) }
        }

        /// The driver's own name and version.
        var vendor: String { vaQueryVendorString(handle).map { String(cString: $0) } ?? "unknown" }

        /// Throws where a call did not succeed.
        static func check(_ status: VAStatus, _ call: String) throws(VideoCodingError) {
            guard status == VA_STATUS_SUCCESS else { throw .hardwareFailed(call: call, code: Int(status)) }
        }
    }
#endif
