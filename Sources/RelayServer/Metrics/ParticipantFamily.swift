import Compositing
import Conference
import MediaCore

/// A metric that each participant has one value of.
struct ParticipantFamily {
    /// The name after `confrelay_`.
    let name: String
    let kind: PrometheusText.Kind
    let help: String
    /// The participant's value; nil while there is none.
    let value: (ParticipantSnapshot) -> Double?

    private init(
        _ name: String, _ kind: PrometheusText.Kind, _ help: String, _ value: @escaping (ParticipantSnapshot) -> Double?
    ) {
        self.name = name
        self.kind = kind
        self.help = help
        self.value = value
    }

    private static func counter(
        _ name: String, _ help: String, _ value: @escaping (ParticipantSnapshot) -> UInt64
    ) -> ParticipantFamily {
        ParticipantFamily("\(name)_total", .counter, help) { Double(value($0)) }
    }

    private static func gauge(
        _ name: String, _ help: String, _ value: @escaping (ParticipantSnapshot) -> Double?
    ) -> ParticipantFamily {
        ParticipantFamily(name, .gauge, help, value)
    }

    /// All of them, in the order in which they are written.
    static var all: [ParticipantFamily] { general + uplink + downlink }

    private static var general: [ParticipantFamily] {
        [
            gauge("participant_duration_seconds", "Time since joining.") { $0.duration },
            gauge("round_trip_time_seconds", "Round-trip time.") { $0.roundTripTime.map { $0 / 1000 } },
        ]
    }

    private static var uplink: [ParticipantFamily] {
        [
            gauge("uplink_bitrate_bits_per_second", "Media received.") { Double($0.uplink.bitRate) },
            counter("uplink_packets", "RTP packets received.") { $0.uplink.packets },
            gauge("uplink_packets_lost", "RTP packets never received; late ones make it fall (RFC 3550, 6.4.1).") {
                Double($0.uplink.packetsLost)
            },
            counter("uplink_malformed_packets", "RTP packets that could not be understood.") {
                $0.uplink.malformedPackets
            },
            counter("uplink_rate_limited_packets", "Packets dropped: the sender sent more than a member may.") {
                $0.uplink.packetsRateLimited
            },
            gauge("uplink_video_width_pixels", "Width of the picture received.") { Double($0.uplink.width) },
            gauge("uplink_video_height_pixels", "Height of the picture received.") { Double($0.uplink.height) },
            counter("uplink_frames_received", "Video frames received.") { $0.uplink.framesReceived },
            counter("uplink_frames_decoded", "Video frames decoded.") { $0.uplink.framesDecoded },
            counter("uplink_frames_dropped", "Video frames dropped before or by the decoder.") {
                $0.uplink.framesDropped
            },
            counter("uplink_frames_skipped", "Video frames left out on purpose: nobody sees them, or only small.") {
                $0.uplink.framesSkipped
            },
            counter("uplink_frames_refused", "Video frames dropped: more than the relay decodes of a member.") {
                $0.uplink.framesRefused
            },
            gauge("uplink_maximum_bits_per_second", "Video that the sender is asked to send at most.") {
                $0.uplink.maximumBitRate.map(Double.init)
            },
            gauge("uplink_tile_width_pixels", "Width of the largest tile in which the camera is seen; 0: in none.") {
                $0.tile(.camera).map { Double($0.width) }
            },
            gauge("uplink_tile_height_pixels", "Height of that tile.") {
                $0.tile(.camera).map { Double($0.height) }
            },
            gauge(
                "uplink_decode_skip_mode",
                "3: full; 2: loop filter on references alone; 1: references alone, without it; 0: keyframes alone."
            ) { $0.uplink.skipMode.level },
            counter("uplink_keyframes", "Keyframes received.") { $0.uplink.keyframes },
            counter("uplink_keyframe_requests", "Keyframes asked for (PLI, FIR).") { $0.uplink.keyframeRequests },
            counter("uplink_nacks", "Packets asked for again.") { $0.uplink.negativeAcknowledgements },
            counter("uplink_fec_packets", "Packets of forward error correction received.") { $0.uplink.fecPackets },
            counter("uplink_recovered_packets", "Lost video packets that forward error correction recovered.") {
                $0.uplink.packetsRecovered
            },
            gauge("uplink_decode_queue_frames", "Frames waiting for the decoder.") {
                Double($0.uplink.decodeQueue)
            },
            counter("uplink_audio_packets", "Audio packets received.") { $0.uplink.audioPackets },
            counter("uplink_red_blocks_used", "Audio payloads taken from later packets that repeat them.") {
                $0.uplink.redBlocksUsed
            },
            counter(
                "uplink_audio_packets_not_decoded",
                "Audio packets not decoded: their time had come before, or more audio came than time went by."
            ) { $0.uplink.audioPacketsNotDecoded },
            gauge("uplink_audio_level_dbov", "Audio level, 0 the loudest, -127 silence.") {
                -Double($0.uplink.audioLevel)
            },
            gauge("uplink_audio_level_refuted", "1: the levels that packets claim are not those of their audio.") {
                $0.uplink.audioLevelRefuted ? 1 : 0
            },
            gauge("uplink_audio_delay_seconds", "Audio playout delay.") { $0.uplink.audioDelay / 1000 },
        ]
    }

    private static var downlink: [ParticipantFamily] {
        [
            gauge("downlink_target_bits_per_second", "What the congestion controller allows.") {
                Double($0.downlink.targetBitRate)
            },
            gauge("downlink_video_target_bits_per_second", "What the encoder was told.") {
                Double($0.downlink.videoBitRate)
            },
            gauge("downlink_bitrate_bits_per_second", "Media sent.") { Double($0.downlink.bitRate) },
            gauge("downlink_video_paused", "1 while the network carries audio alone.") {
                $0.downlink.videoPaused ? 1 : 0
            },
            counter("downlink_packets", "RTP packets sent.") { $0.downlink.packets },
            gauge("downlink_loss_ratio", "Share of packets lost, 0 to 1.") { $0.downlink.loss },
            gauge("downlink_video_width_pixels", "Width of the picture sent.") { Double($0.downlink.width) },
            gauge("downlink_video_height_pixels", "Height of the picture sent.") { Double($0.downlink.height) },
            counter("downlink_frames_encoded", "Video frames encoded and sent.") { $0.downlink.framesEncoded },
            counter("downlink_frames_layer_dropped", "Frames left out for this participant alone.") {
                $0.downlink.framesLayerDropped
            },
            counter("downlink_packets_passed_on", "Packets of another sender forwarded as they came.") {
                $0.downlink.packetsPassedOn
            },
            counter("downlink_group_changes", "Changes from one encoder to another.") { $0.downlink.groupChanges },
            counter("downlink_frames_dropped", "Ticks without a frame: encoder busy or pacer full.") {
                $0.downlink.framesDropped
            },
            counter("downlink_keyframes", "Keyframes sent.") { $0.downlink.keyframes },
            counter("downlink_keyframe_requests", "Keyframes asked for by the participant.") {
                $0.downlink.keyframeRequests
            },
            counter("downlink_retransmissions", "Packets sent again.") { $0.downlink.retransmissions },
            counter("downlink_fec_packets", "Packets of forward error correction sent.") { $0.downlink.fecPackets },
            counter("downlink_red_packets", "Audio packets sent that repeat earlier ones.") { $0.downlink.redPackets },
            counter("downlink_refreshes", "Pictures sent after a loss that refer to nothing but what had arrived.") {
                $0.downlink.recovery.refreshes
            },
            counter("downlink_refreshes_used", "Those with which the participant went on.") {
                $0.downlink.recovery.refreshesUsed
            },
            counter(
                "downlink_refresh_fallbacks", "Losses for which it took a keyframe although refreshes could be made."
            ) {
                $0.downlink.recovery.keyframes
            },
            gauge("downlink_pacer_queue_bytes", "Bytes waiting in the pacer.") { Double($0.downlink.pacerQueue) },
        ]
    }
}

extension ParticipantSnapshot {
    fileprivate func tile(_ content: SourceContent) -> TileSnapshot? { tiles.first { $0.content == content } }
}

extension DecodeSkipMode {
    fileprivate var level: Double {
        switch self {
        case .full: 3
        case .filteredReferences: 2
        case .referenceFrames: 1
        case .keyframes: 0
        }
    }
}
