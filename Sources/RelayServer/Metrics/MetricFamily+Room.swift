import Conference

extension MetricFamily<RoomSnapshot> {
    /// The metrics of a room, in the order in which they are written.
    static var room: [Self] {
        [
            computed("room_participants", "Participants.") { Double($0.participants.count) },
            counter("room_ticks", \.ticks, "Video ticks composed."),
            counter("room_missed_ticks", \.missedTicks, "Video ticks left out: the last one was not done."),
            counter("room_composed_pictures", \.composedPictures, "Pictures composed."),
            split(
                "room_pictures_total", .counter, by: "origin",
                "Composed pictures by `origin`: `rendered`, `reused` (unchanged), `passed_through` (a source's decoded "
                    + "picture), `fallback` (the compositor failed)."
            ) {
                [
                    "rendered": $0.pictures.rendered, "reused": $0.pictures.reused,
                    "passed_through": $0.pictures.passedThrough, "fallback": $0.pictures.fallbacks,
                ]
            },
            computed("room_encoders", "Video encoders.") { Double($0.encoding.groups.count) },
            counter("room_frames_encoded", \.encoding.frames, "Video frames encoded."),
            counter("room_keyframes_encoded", \.encoding.keyframes, "Keyframes encoded."),
            counter("room_encoded_bytes", \.encoding.bytes, "Bytes of encoded frames."),
            counter("room_encoded_keyframe_bytes", \.encoding.keyframeBytes, "Bytes of encoded keyframes."),
            counter(
                "room_encoder_failures", \.encoding.failures,
                "Encoders that failed; tried again after 0.25 s, doubling to 30 s."),
            counter("room_encoder_moves", \.encoding.moves, "Receivers moved between encoders."),
            gauge("room_forwarding_receivers", \.forwarding.receivers, "Receivers of forwarded video."),
            gauge("room_forwarding_audio_receivers", \.forwarding.audioReceivers, "Receivers of forwarded audio."),
            counter("room_forwarding_packets", \.forwarding.packets, "Packets forwarded."),
            counter(
                "room_forwarding_switches", \.forwarding.switches,
                "Changes between encoders and forwarded packets."),
            counter(
                "room_late_audio_ticks", \.lateAudioTicks,
                "Audio ticks late: mixer busy."),
        ]
    }
}
