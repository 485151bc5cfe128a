#if VAAPI
    import CLibVA

    extension VAAPICapabilities {
        /// Whether frames follow a bitrate.
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
