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
            gauge("participant_duration_seconds", \.duration, "Time since joining."),
            gauge("round_trip_time_seconds", \.roundTripTime, "Round-trip time.", scale: 0.001),
        ]
    }

    private static var uplink: [Self] {
        [
            gauge("uplink_bitrate_bits_per_second", \.uplink.bitRate, "Media received."),
            counter("uplink_packets", \.uplink.packets, "RTP packets received."),
            gauge(
                "uplink_packets_lost", \.uplink.packetsLost,
                "RTP packets never received; late ones make it fall (RFC 3550, 6.4.1)."),
            counter("uplink_malformed_packets", \.uplink.malformedPackets, "Malformed RTP packets."),
            counter(
                "uplink_rate_limited_packets", \.uplink.packetsRateLimited,
                "Packets dropped because the sender exceeded a member's rate."),
            gauge("uplink_video_width_pixels", \.uplink.width, "Width of the picture received."),
            gauge("uplink_video_height_pixels", \.uplink.height, "Height of the picture received."),
            counter("uplink_frames_received", \.uplink.framesReceived, "Video frames received."),
            counter("uplink_frames_decoded", \.uplink.framesDecoded, "Video frames decoded."),
            counter("uplink_frames_dropped", \.uplink.framesDropped, "Video frames dropped before or by the decoder."),
            counter(
                "uplink_frames_skipped", \.uplink.framesSkipped,
                "Video frames not decoded because they are shown nowhere or small."),
            counter(
                "uplink_frames_refused", \.uplink.framesRefused,
                "Video frames dropped because the member exceeded the decode budget."),
            gauge(
                "uplink_maximum_bits_per_second", \.uplink.maximumBitRate,
                "Video bitrate limit that the relay requests of the sender."),
            computed("uplink_tile_width_pixels", "Width of the largest tile that shows the camera; 0: none.") {
                $0.tile(.camera).map { Double($0.width) }
            },
            computed("uplink_tile_height_pixels", "Height of that tile.") {
                $0.tile(.camera).map { Double($0.height) }
            },
            gauge(
                "uplink_decode_skip_mode", \.uplink.skipMode,
                "3: every frame; 2: loop filter on reference frames only; 1: reference frames without loop "
                    + "filter; 0: keyframes."),
            counter("uplink_keyframes", \.uplink.keyframes, "Keyframes received."),
            counter(
                "uplink_keyframe_requests", \.uplink.keyframeRequests,
                "Keyframes that the relay requested (PLI, FIR)."),
            counter("uplink_nacks", \.uplink.nacks, "Packets that the relay requested again."),
            counter("uplink_fec_packets", \.uplink.fecPackets, "Packets of forward error correction received."),
            counter(
                "uplink_recovered_packets", \.uplink.packetsRecovered,
                "Lost video packets that forward error correction recovered."),
            gauge("uplink_decode_queue_frames", \.uplink.decodeQueue, "Frames waiting for the decoder."),
            counter("uplink_audio_packets", \.uplink.audioPackets, "Audio packets received."),
            counter(
                "uplink_red_blocks_used", \.uplink.redBlocksUsed,
                "Audio payloads recovered from later packets (RED)."),
            counter(
                "uplink_audio_packets_not_decoded", \.uplink.audioPacketsNotDecoded,
                "Audio packets not decoded: duplicate by more than half, or faster than real time."),
            gauge(
                "uplink_audio_level_dbov", \.uplink.audioLevel,
                "Audio level, 0 the loudest, -127 silence.", scale: -1),
            gauge(
                "uplink_audio_level_refuted", \.uplink.audioLevelRefuted,
                "1: the levels that packets claim are false; decoded levels are used."),
            gauge("uplink_audio_delay_seconds", \.uplink.audioDelay, "Audio playout delay.", scale: 0.001),
        ]
    }

    private static var downlink: [Self] {
        [
            gauge(
                "downlink_target_bits_per_second", \.downlink.targetBitRate,
                "The congestion controller's target, audio included."),
            gauge(
                "downlink_video_target_bits_per_second", \.downlink.videoBitRate,
                "The encoder's part of the target."),
            gauge("downlink_bitrate_bits_per_second", \.downlink.bitRate, "Media sent."),
            gauge(
                "downlink_video_paused", \.downlink.videoPaused,
                "1: video is paused because the network carries only audio."),
            counter("downlink_packets", \.downlink.packets, "RTP packets sent."),
            gauge("downlink_loss_ratio", \.downlink.loss, "Share of packets lost, 0 to 1."),
            gauge("downlink_video_width_pixels", \.downlink.width, "Width of the picture sent."),
            gauge("downlink_video_height_pixels", \.downlink.height, "Height of the picture sent."),
            counter("downlink_frames_encoded", \.downlink.framesEncoded, "Video frames encoded and sent."),
            counter(
                "downlink_frames_layer_dropped", \.downlink.framesLayerDropped,
                "Frames of higher temporal layers dropped for this participant only."),
            counter(
                "downlink_packets_forwarded", \.downlink.packetsForwarded,
                "Packets of other senders forwarded unchanged."),
            counter("downlink_group_changes", \.downlink.groupChanges, "Changes of encode group."),
            counter(
                "downlink_frames_dropped", \.downlink.framesDropped,
                "Ticks without a frame because the encoder was busy or the pacer full."),
            counter("downlink_keyframes", \.downlink.keyframes, "Keyframes sent."),
            counter(
                "downlink_keyframe_requests", \.downlink.keyframeRequests,
                "Keyframes that the participant requested."),
            counter("downlink_retransmissions", \.downlink.retransmissions, "Packets sent again."),
            counter("downlink_fec_packets", \.downlink.fecPackets, "Packets of forward error correction sent."),
            counter("downlink_red_packets", \.downlink.redPackets, "Audio packets sent with redundant payloads (RED)."),
            counter(
                "downlink_refreshes", \.downlink.recovery.refreshes,
                "Recovery pictures without a keyframe: they refer only to pictures that had arrived."),
            counter(
                "downlink_refreshes_used", \.downlink.recovery.refreshesUsed,
                "Recovery pictures with which the participant continued."),
            counter(
                "downlink_refresh_fallbacks", \.downlink.recovery.keyframes,
                "Losses that took a keyframe although recovery pictures were possible."),
            gauge("downlink_pacer_queue_bytes", \.downlink.pacerQueue, "Bytes waiting in the pacer."),
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

extension DecodeSkipMode: MetricNumber {
    var metricValue: Double? {
        switch self {
        case .full: 3
        case .filteredReferences: 2
        case .referenceFrames: 1
        case .keyframes: 0
        }
    }
}
