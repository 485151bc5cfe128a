import Compositing
import Conference
import MediaCore
import PeerConnection

extension MetricFamily<ParticipantSnapshot> {
    /// The metrics of a participant, in the order in which they are written.
    static var participant: [Self] { general + uplink + downlink + latencies }

    private static var general: [Self] {
        [
            Self("participant_info", .gauge, "Always 1. The labels `name` and `role` describe the participant.") {
                [.init(1, [("name", $0.name), ("role", $0.role)])]
            },
            gauge("participant_duration_seconds", "Time since joining.") { $0.duration },
            gauge("round_trip_time_seconds", "Round-trip time.") { $0.roundTripTime.map { $0 / 1000 } },
        ]
    }

    private static var uplink: [Self] {
        [
            gauge("uplink_bitrate_bits_per_second", "Media received.") { Double($0.uplink.bitRate) },
            counter("uplink_packets", "RTP packets received.") { $0.uplink.packets },
            gauge("uplink_packets_lost", "RTP packets never received; late ones make it fall (RFC 3550, 6.4.1).") {
                Double($0.uplink.packetsLost)
            },
            counter("uplink_malformed_packets", "Malformed RTP packets.") {
                $0.uplink.malformedPackets
            },
            counter("uplink_rate_limited_packets", "Packets dropped because the sender exceeded a member's rate.") {
                $0.uplink.packetsRateLimited
            },
            gauge("uplink_video_width_pixels", "Width of the picture received.") { Double($0.uplink.width) },
            gauge("uplink_video_height_pixels", "Height of the picture received.") { Double($0.uplink.height) },
            counter("uplink_frames_received", "Video frames received.") { $0.uplink.framesReceived },
            counter("uplink_frames_decoded", "Video frames decoded.") { $0.uplink.framesDecoded },
            counter("uplink_frames_dropped", "Video frames dropped before or by the decoder.") {
                $0.uplink.framesDropped
            },
            counter("uplink_frames_skipped", "Video frames not decoded because they are shown nowhere or small.") {
                $0.uplink.framesSkipped
            },
            counter("uplink_frames_refused", "Video frames dropped because the member exceeded the decode budget.") {
                $0.uplink.framesRefused
            },
            gauge("uplink_maximum_bits_per_second", "Video bitrate limit that the relay requests of the sender.") {
                $0.uplink.maximumBitRate.map(Double.init)
            },
            gauge("uplink_tile_width_pixels", "Width of the largest tile that shows the camera; 0: none.") {
                $0.tile(.camera).map { Double($0.width) }
            },
            gauge("uplink_tile_height_pixels", "Height of that tile.") {
                $0.tile(.camera).map { Double($0.height) }
            },
            gauge(
                "uplink_decode_skip_mode",
                "3: every frame; 2: loop filter on reference frames only; 1: reference frames without loop "
                    + "filter; 0: keyframes."
            ) { $0.uplink.skipMode.level },
            counter("uplink_keyframes", "Keyframes received.") { $0.uplink.keyframes },
            counter("uplink_keyframe_requests", "Keyframes that the relay requested (PLI, FIR).") {
                $0.uplink.keyframeRequests
            },
            counter("uplink_nacks", "Packets that the relay requested again.") { $0.uplink.negativeAcknowledgements },
            counter("uplink_fec_packets", "Packets of forward error correction received.") { $0.uplink.fecPackets },
            counter("uplink_recovered_packets", "Lost video packets that forward error correction recovered.") {
                $0.uplink.packetsRecovered
            },
            gauge("uplink_decode_queue_frames", "Frames waiting for the decoder.") {
                Double($0.uplink.decodeQueue)
            },
            counter("uplink_audio_packets", "Audio packets received.") { $0.uplink.audioPackets },
            counter("uplink_red_blocks_used", "Audio payloads recovered from later packets (RED).") {
                $0.uplink.redBlocksUsed
            },
            counter(
                "uplink_audio_packets_not_decoded",
                "Audio packets not decoded: duplicate by more than half, or faster than real time."
            ) { $0.uplink.audioPacketsNotDecoded },
            gauge("uplink_audio_level_dbov", "Audio level, 0 the loudest, -127 silence.") {
                -Double($0.uplink.audioLevel)
            },
            gauge("uplink_audio_level_refuted", "1: the levels that packets claim are false; decoded levels are used.")
            {
                $0.uplink.audioLevelRefuted ? 1 : 0
            },
            gauge("uplink_audio_delay_seconds", "Audio playout delay.") { $0.uplink.audioDelay / 1000 },
        ]
    }

    private static var downlink: [Self] {
        [
            gauge("downlink_target_bits_per_second", "The congestion controller's target, audio included.") {
                Double($0.downlink.targetBitRate)
            },
            gauge("downlink_video_target_bits_per_second", "The encoder's part of the target.") {
                Double($0.downlink.videoBitRate)
            },
            gauge("downlink_bitrate_bits_per_second", "Media sent.") { Double($0.downlink.bitRate) },
            gauge("downlink_video_paused", "1: video is paused because the network carries only audio.") {
                $0.downlink.videoPaused ? 1 : 0
            },
            counter("downlink_packets", "RTP packets sent.") { $0.downlink.packets },
            gauge("downlink_loss_ratio", "Share of packets lost, 0 to 1.") { $0.downlink.loss },
            gauge("downlink_video_width_pixels", "Width of the picture sent.") { Double($0.downlink.width) },
            gauge("downlink_video_height_pixels", "Height of the picture sent.") { Double($0.downlink.height) },
            counter("downlink_frames_encoded", "Video frames encoded and sent.") { $0.downlink.framesEncoded },
            counter(
                "downlink_frames_layer_dropped", "Frames of higher temporal layers dropped for this participant only."
            ) {
                $0.downlink.framesLayerDropped
            },
            counter("downlink_packets_forwarded", "Packets of other senders forwarded unchanged.") {
                $0.downlink.packetsForwarded
            },
            counter("downlink_group_changes", "Changes of encode group.") { $0.downlink.groupChanges },
            counter("downlink_frames_dropped", "Ticks without a frame because the encoder was busy or the pacer full.")
            {
                $0.downlink.framesDropped
            },
            counter("downlink_keyframes", "Keyframes sent.") { $0.downlink.keyframes },
            counter("downlink_keyframe_requests", "Keyframes that the participant requested.") {
                $0.downlink.keyframeRequests
            },
            counter("downlink_retransmissions", "Packets sent again.") { $0.downlink.retransmissions },
            counter("downlink_fec_packets", "Packets of forward error correction sent.") { $0.downlink.fecPackets },
            counter("downlink_red_packets", "Audio packets sent with redundant payloads (RED).") {
                $0.downlink.redPackets
            },
            counter(
                "downlink_refreshes",
                "Recovery pictures without a keyframe: they refer only to pictures that had arrived."
            ) {
                $0.downlink.recovery.refreshes
            },
            counter("downlink_refreshes_used", "Recovery pictures with which the participant continued.") {
                $0.downlink.recovery.refreshesUsed
            },
            counter(
                "downlink_refresh_fallbacks", "Losses that took a keyframe although recovery pictures were possible."
            ) {
                $0.downlink.recovery.keyframes
            },
            gauge("downlink_pacer_queue_bytes", "Bytes waiting in the pacer.") { Double($0.downlink.pacerQueue) },
        ]
    }

    private static var latencies: [Self] {
        [
            latency(
                "stage_latency_seconds", \.latency,
                "Histogram by `stage`: how long frames shown to the participant spent in each stage, and in `total`."),
            latency(
                "uplink_stage_latency_seconds", \.uplinkLatency,
                "Histogram by `stage`: how long the camera's frames waited until they were decoded."),
        ]
    }

    private static func latency(
        _ name: String, _ stages: @escaping (ParticipantSnapshot) -> [StageSnapshot], _ meaning: String
    ) -> Self {
        Self(name, .histogram, meaning) {
            stages($0).map { stage in
                Sample(
                    .histogram(
                        bounds: LatencyHistogram.bucketBounds.map { $0 / 1000 }, counts: stage.histogram.counts,
                        sum: stage.histogram.sum.seconds),
                    [("stage", stage.stage)])
            }
        }
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
