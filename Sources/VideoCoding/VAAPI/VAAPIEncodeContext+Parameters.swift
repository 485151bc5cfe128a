#if VAAPI
    import CLibVA
    import H264
    import MediaCore
    import NIOCore

    extension VAAPIEncodeContext {
        /// Makes the buffers of a frame, in an order that all drivers take: radeonsi's rate control sets a buffer model
        /// of a second, so what is told of that comes behind it.
        func makeBuffers(of frame: Frame) throws(VideoCodingError) {
            if frame.picture.isIDR { try makeSequence(frame) }
            if rateControl != VA_RC_CQP {
                try makeRateControl(frame)
                try makeFrameRate(frame)
                try makeBufferModel(frame)
                if capabilities.hasMaximumFrameSize { try makeMaximumFrameSize() }
            }
            if capabilities.tellsLayers(headers.layers) { try makeLayers() }
            if frame.picture.isIDR { try makeParameterSets() }
            try makePicture(frame)
            if capabilities.packs(VA_ENC_PACKED_HEADER_SLICE) { try makeSliceHeader(frame) }
            try makeSlice(frame)
        }

        // MARK: - The stream

        private func makeSequence(_ frame: Frame) throws(VideoCodingError) {
            var sequence = VAEncSequenceParameterBufferH264()
            sequence.level_idc = headers.profileLevel.levelIDC
            // No picture becomes an IDR picture unasked: the client says of each what it is. radeonsi's rate control
            // divides by the interval.
            sequence.intra_period = 2048
            sequence.intra_idr_period = 2048
            sequence.ip_period = 1
            sequence.bits_per_second = rateControl == VA_RC_CQP ? 0 : frame.rate.bitsPerSecond
            sequence.max_num_ref_frames = UInt32(clamping: headers.maximumReferences)
            sequence.picture_width_in_mbs = UInt16(clamping: headers.coded.width / 16)
            sequence.picture_height_in_mbs = UInt16(clamping: headers.coded.height / 16)
            sequence.seq_fields.bits.chroma_format_idc = 1
            sequence.seq_fields.bits.frame_mbs_only_flag = 1
            sequence.seq_fields.bits.direct_8x8_inference_flag = 1
            sequence.seq_fields.bits.log2_max_frame_num_minus4 = UInt32(ReferenceStructure.log2MaximumFrameNumber - 4)
            sequence.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 =
                UInt32(ReferenceStructure.log2MaximumPictureOrder - 4)
            let (right, bottom) = headers.cropping
            if right > 0 || bottom > 0 {
                sequence.frame_cropping_flag = 1
                sequence.frame_crop_right_offset = UInt32(clamping: right / 2)
                sequence.frame_crop_bottom_offset = UInt32(clamping: bottom / 2)
            }
            sequence.vui_parameters_present_flag = 1
            sequence.vui_fields.bits.bitstream_restriction_flag = 1
            sequence.vui_fields.bits.motion_vectors_over_pic_boundaries_flag = 1
            sequence.vui_fields.bits.log2_max_mv_length_horizontal = 16
            sequence.vui_fields.bits.log2_max_mv_length_vertical = 16
            if headers.pixelAspectRatio.width != headers.pixelAspectRatio.height {
                sequence.vui_fields.bits.aspect_ratio_info_present_flag = 1
                sequence.aspect_ratio_idc = 255
                sequence.sar_width = UInt32(clamping: headers.pixelAspectRatio.width)
                sequence.sar_height = UInt32(clamping: headers.pixelAspectRatio.height)
            }
            try makeBuffer(VAEncSequenceParameterBufferType, &sequence, MemoryLayout.size(ofValue: sequence))
        }

        private func makeParameterSets() throws(VideoCodingError) {
            if capabilities.packs(VA_ENC_PACKED_HEADER_SEQUENCE) {
                // A driver that takes an SPS alone expects the PPS behind it.
                let takesBoth = capabilities.packs(VA_ENC_PACKED_HEADER_PICTURE)
                let sets = takesBoth ? [headers.sequenceParameterSet] : headers.parameterSets
                try makePacked(UInt32(VAEncPackedHeaderSequence.rawValue), units: sets)
            }
            if capabilities.packs(VA_ENC_PACKED_HEADER_PICTURE) {
                try makePacked(UInt32(VAEncPackedHeaderPicture.rawValue), units: [headers.pictureParameterSet])
            }
        }

        private func makePacked(_ type: UInt32, units: [ByteBuffer]) throws(VideoCodingError) {
            var bytes: [UInt8] = []
            for unit in units { bytes += [0, 0, 0, 1] + unit.readableBytesView }
            try makePacked(type, &bytes, bitCount: bytes.count * 8, hasEmulationPrevention: true)
        }

        private func makePacked(
            _ type: UInt32, _ bytes: inout [UInt8], bitCount: Int, hasEmulationPrevention: Bool
        ) throws(VideoCodingError) {
            var parameter = VAEncPackedHeaderParameterBuffer()
            parameter.type = type
            parameter.bit_length = UInt32(clamping: bitCount)
            parameter.has_emulation_bytes = hasEmulationPrevention ? 1 : 0
            try makeBuffer(
                VAEncPackedHeaderParameterBufferType, &parameter, MemoryLayout.size(ofValue: parameter))
            try makeBuffer(VAEncPackedHeaderDataBufferType, &bytes, bytes.count)
        }

        private func makeSliceHeader(_ frame: Frame) throws(VideoCodingError) {
            let (bits, unitHeader) = headers.sliceHeader(of: frame.picture, qp: frame.qp)
            var bytes: [UInt8] = [0, 0, 0, 1, unitHeader] + bits.bytes
            try makePacked(
                UInt32(VAEncPackedHeaderSlice.rawValue), &bytes, bitCount: 40 + bits.bitCount,
                hasEmulationPrevention: false)
        }

        // MARK: - The rate

        private func makeRateControl(_ frame: Frame) throws(VideoCodingError) {
            var control = VAShimRateControl()
            control.type = VAEncMiscParameterTypeRateControl
            control.value.bits_per_second = frame.rate.bitsPerSecond
            control.value.target_percentage = 100
            control.value.window_size = frame.rate.windowMilliseconds
            // A QP that is pinned holds for this frame alone.
            control.value.initial_qp = UInt32(clamping: frame.qp ?? 0)
            control.value.min_qp = UInt32(clamping: frame.qp ?? frame.leastQP)
            control.value.max_qp = UInt32(clamping: frame.qp ?? 51)
            control.value.rc_flags.bits.disable_frame_skip = 1
            control.value.rc_flags.bits.disable_bit_stuffing = 1
            // Low delay.
            if capabilities.hasFrameSizeTolerance { control.value.rc_flags.bits.frame_tolerance_mode = 2 }
            try makeBuffer(VAEncMiscParameterBufferType, &control, MemoryLayout.size(ofValue: control))
        }

        private func makeFrameRate(_ frame: Frame) throws(VideoCodingError) {
            var rate = VAShimFrameRate()
            rate.type = VAEncMiscParameterTypeFrameRate
            rate.value.framerate = frame.rate.frameRate
            try makeBuffer(VAEncMiscParameterBufferType, &rate, MemoryLayout.size(ofValue: rate))
        }

        private func makeBufferModel(_ frame: Frame) throws(VideoCodingError) {
            var model = VAShimHRD()
            model.type = VAEncMiscParameterTypeHRD
            model.value.buffer_size = frame.rate.bufferSize
            model.value.initial_buffer_fullness = frame.rate.bufferSize / 2
            try makeBuffer(VAEncMiscParameterBufferType, &model, MemoryLayout.size(ofValue: model))
        }

        /// The same for all frames: iHD begins its rate control anew where it changes.
        private func makeMaximumFrameSize() throws(VideoCodingError) {
            var size = VAShimMaxFrameSize()
            size.type = VAEncMiscParameterTypeMaxFrameSize
            size.value.max_frame_size = UInt32(clamping: codedSize * 8)
            try makeBuffer(VAEncMiscParameterBufferType, &size, MemoryLayout.size(ofValue: size))
        }

        private func makeLayers() throws(VideoCodingError) {
            var structure = VAShimTemporalLayerStructure()
            structure.type = VAEncMiscParameterTypeTemporalLayerStructure
            structure.value.number_of_layers = UInt32(clamping: headers.layers)
            structure.value.periodicity = UInt32(clamping: layers.count)
            withUnsafeMutableBytes(of: &structure.value.layer_id) { bytes in
                let identifiers = bytes.bindMemory(to: UInt32.self)
                for (index, layer) in layers.enumerated() { identifiers[index] = UInt32(clamping: layer) }
            }
            try makeBuffer(VAEncMiscParameterBufferType, &structure, MemoryLayout.size(ofValue: structure))
        }

        // MARK: - The picture

        private func makePicture(_ frame: Frame) throws(VideoCodingError) {
            var picture = VAEncPictureParameterBufferH264()
            picture.CurrPic = reference(
                slot: frame.picture.slot, frameNumber: frame.picture.frameNumber, order: frame.picture.order,
                isReference: frame.picture.isReference)
            withUnsafeMutableBytes(of: &picture.ReferenceFrames) { bytes in
                let list = bytes.bindMemory(to: VAPictureH264.self)
                fill(list, with: frame.picture.references)
            }
            picture.coded_buf = coded
            picture.frame_num = UInt16(clamping: frame.picture.frameNumber)
            picture.pic_init_qp = UInt8(clamping: StreamHeaders.initialQP)
            picture.pic_fields.bits.idr_pic_flag = frame.picture.isIDR ? 1 : 0
            picture.pic_fields.bits.reference_pic_flag = frame.picture.isReference ? 1 : 0
            picture.pic_fields.bits.entropy_coding_mode_flag = headers.isCABAC ? 1 : 0
            picture.pic_fields.bits.deblocking_filter_control_present_flag = 1
            try makeBuffer(VAEncPictureParameterBufferType, &picture, MemoryLayout.size(ofValue: picture))
        }

        private func makeSlice(_ frame: Frame) throws(VideoCodingError) {
            var slice = VAEncSliceParameterBufferH264()
            slice.num_macroblocks = UInt32(clamping: headers.coded.width * headers.coded.height / 256)
            slice.macroblock_info = vaInvalid
            slice.slice_type = frame.picture.isIDR ? 2 : 0
            slice.idr_pic_id = UInt16(clamping: frame.picture.idrID)
            slice.pic_order_cnt_lsb = UInt16(
                truncatingIfNeeded: frame.picture.order & (1 << ReferenceStructure.log2MaximumPictureOrder - 1))
            slice.slice_qp_delta = Int8(clamping: (frame.qp ?? StreamHeaders.initialQP) - StreamHeaders.initialQP)
            withUnsafeMutableBytes(of: &slice.RefPicList0) { bytes in
                let list = bytes.bindMemory(to: VAPictureH264.self)
                fill(list, with: frame.picture.reference.map { [$0] } ?? [])
            }
            withUnsafeMutableBytes(of: &slice.RefPicList1) { bytes in
                fill(bytes.bindMemory(to: VAPictureH264.self), with: [])
            }
            try makeBuffer(VAEncSliceParameterBufferType, &slice, MemoryLayout.size(ofValue: slice))
        }

        private func fill(
            _ list: UnsafeMutableBufferPointer<VAPictureH264>, with references: [ReferenceStructure.Reference]
        ) {
            for index in list.indices {
                if index < references.count {
                    let picture = references[index]
                    list[index] = reference(
                        slot: picture.slot, frameNumber: picture.frameNumber, order: picture.order, isReference: true)
                } else {
                    var none = VAPictureH264()
                    none.picture_id = vaInvalid
                    none.flags = UInt32(VA_PICTURE_H264_INVALID)
                    list[index] = none
                }
            }
        }

        private func reference(slot: Int, frameNumber: Int, order: Int, isReference: Bool) -> VAPictureH264 {
            var picture = VAPictureH264()
            picture.picture_id = rebuilt[slot]
            picture.frame_idx = UInt32(clamping: frameNumber)
            picture.flags = isReference ? UInt32(VA_PICTURE_H264_SHORT_TERM_REFERENCE) : 0
            picture.TopFieldOrderCnt = Int32(truncatingIfNeeded: order)
            picture.BottomFieldOrderCnt = Int32(truncatingIfNeeded: order)
            return picture
        }
    }
#endif
