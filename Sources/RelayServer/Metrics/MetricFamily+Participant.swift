import Compositing
import Conference
import MediaCore
import PeerConnection

extension MetricFamily<ParticipantSnapshot> {
    /// The metrics of a participant, in the order in which they are written.
    static var participant: [Self] { general + uplink + downlink + latencies }

    private static var general: [Self] {
        [
            Self("participant_info", .gauge, "1. Labels: `name`, `role`.") {
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
                "RTP packets not received; falls with late ones (RFC 3550, 6.4.1)."),
            counter("uplink_malformed_packets", \.uplink.malformedPackets, "Malformed RTP packets."),
            counter(
                "uplink_rate_limited_packets", \.uplink.packetsRateLimited,
                "Packets over a member's rate."),
            gauge("uplink_video_width_pixels", \.uplink.width, "Received picture's width."),
            gauge("uplink_video_height_pixels", \.uplink.height, "Received picture's height."),
            counter("uplink_frames_received", \.uplink.framesReceived, "Video frames received."),
            counter("uplink_frames_decoded", \.uplink.framesDecoded, "Video frames decoded."),
            counter("uplink_frames_dropped", \.uplink.framesDropped, "Video frames dropped before or in the decoder."),
            counter(
                "uplink_frames_skipped", \.uplink.framesSkipped,
                "Video frames not decoded: shown nowhere or small."),
            counter(
                "uplink_frames_refused", \.uplink.framesRefused,
                "Video frames over the decode budget."),
            gauge(
                "uplink_maximum_bits_per_second", \.uplink.maximumBitRate,
                "Video bitrate requested of the sender."),
            computed("uplink_tile_width_pixels", "Width of the camera's largest tile; 0: none.") {
                $0.tile(.camera).map { Double($0.width) }
            },
            computed("uplink_tile_height_pixels", "Height of the camera's largest tile.") {
                $0.tile(.camera).map { Double($0.height) }
            },
            gauge(
                "uplink_decode_skip_mode", \.uplink.skipMode,
                "3: all frames; 2: loop filter on reference frames only; 1: reference frames without loop filter; "
                    + "0: keyframes."),
            counter("uplink_keyframes", \.uplink.keyframes, "Keyframes received."),
            counter(
                "uplink_keyframe_requests", \.uplink.keyframeRequests,
                "Keyframes requested by the relay."),
            counter("uplink_nacks", \.uplink.nacks, "Packets requested again."),
            counter("uplink_fec_packets", \.uplink.fecPackets, "FEC packets received."),
            counter(
                "uplink_recovered_packets", \.uplink.packetsRecovered,
                "Lost video packets recovered by FEC."),
            gauge("uplink_decode_queue_frames", \.uplink.decodeQueue, "Frames waiting for the decoder."),
            counter("uplink_audio_packets", \.uplink.audioPackets, "Audio packets received."),
            counter(
                "uplink_red_blocks_used", \.uplink.redBlocksUsed,
                "Audio payloads recovered (RED)."),
            counter(
                "uplink_audio_packets_not_decoded", \.uplink.audioPacketsNotDecoded,
                "Audio packets not decoded: mostly duplicate, or faster than real time."),
            gauge(
                "uplink_audio_level_dbov", \.uplink.audioLevel,
                "Audio level: 0 loudest, -127 silence.", scale: -1),
            gauge(
                "uplink_audio_level_refuted", \.uplink.audioLevelRefuted,
                "1: levels in packets are false; decoded ones count."),
            gauge("uplink_audio_delay_seconds", \.uplink.audioDelay, "Audio playout delay.", scale: 0.001),
        ]
    }

    private static var downlink: [Self] {
        [
            gauge(
                "downlink_target_bits_per_second", \.downlink.targetBitRate,
                "The controller's target, with audio."),
            gauge(
                "downlink_video_target_bits_per_second", \.downlink.videoBitRate,
                "The encoder's part of the target."),
            gauge("downlink_bitrate_bits_per_second", \.downlink.bitRate, "Media sent."),
            gauge(
                "downlink_video_paused", \.downlink.videoPaused,
                "1: paused, as the network carries only audio."),
            counter("downlink_packets", \.downlink.packets, "RTP packets sent."),
            gauge("downlink_loss_ratio", \.downlink.loss, "Packets lost, 0 to 1."),
            gauge("downlink_video_width_pixels", \.downlink.width, "Sent picture's width."),
            gauge("downlink_video_height_pixels", \.downlink.height, "Sent picture's height."),
            counter("downlink_frames_encoded", \.downlink.framesEncoded, "Encoded video frames sent."),
            counter(
                "downlink_frames_layer_dropped", \.downlink.framesLayerDropped,
                "Frames of temporal layers dropped for this participant alone."),
            counter(
                "downlink_packets_forwarded", \.downlink.packetsForwarded,
                "Packets forwarded."),
            counter("downlink_group_changes", \.downlink.groupChanges, "Changes of encode group."),
            counter(
                "downlink_frames_dropped", \.downlink.framesDropped,
                "Ticks without a frame: encoder busy, or pacer full."),
            counter("downlink_keyframes", \.downlink.keyframes, "Keyframes sent."),
            counter(
                "downlink_keyframe_requests", \.downlink.keyframeRequests,
                "Keyframes requested by the participant."),
            counter("downlink_retransmissions", \.downlink.retransmissions, "Packets sent again."),
            counter("downlink_fec_packets", \.downlink.fecPackets, "FEC packets sent."),
            counter("downlink_red_packets", \.downlink.redPackets, "Audio packets with redundancy (RED)."),
            counter(
                "downlink_refreshes", \.downlink.recovery.refreshes,
                "Recovery pictures: they refer only to pictures that had arrived."),
            counter(
                "downlink_refreshes_used", \.downlink.recovery.refreshesUsed,
                "Recovery pictures that helped."),
            counter(
                "downlink_refresh_fallbacks", \.downlink.recovery.keyframes,
                "Losses that took a keyframe although refreshes were possible."),
            gauge("downlink_pacer_queue_bytes", \.downlink.pacerQueue, "Bytes waiting in the pacer."),
        ]
    }

    private static var latencies: [Self] {
        [
            latency(
                "stage_latency_seconds", \.latency,
                "Histogram by `stage` (and `total`) of frames shown to the participant."),
            latency(
                "uplink_stage_latency_seconds", \.uplinkLatency,
                "Histogram by `stage` of the camera's frames until decoded."),
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
