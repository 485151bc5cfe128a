import Conference

extension MetricFamily<RoomSnapshot> {
    /// The metrics of a room, in the order in which they are written.
    static var room: [Self] {
        [
            gauge("room_participants", "Participants in the room.") { Double($0.participants.count) },
            counter("room_ticks", "Video ticks whose composition was done.") { $0.ticks },
            counter("room_missed_ticks", "Video ticks left out because the tick before was not done.") {
                $0.missedTicks
            },
            counter("room_composed_pictures", "Pictures composed.") { $0.composedPictures },
            counter(
                "room_pictures", by: "origin",
                "Composed pictures by `origin`: `rendered`, `reused` (unchanged), `passed_through` (a source's decoded "
                    + "picture), `fallback` (the compositor failed)."
            ) {
                [
                    "rendered": $0.pictures.rendered, "reused": $0.pictures.reused,
                    "passed_through": $0.pictures.passedThrough, "fallback": $0.pictures.fallbacks,
                ]
            },
            gauge("room_encoders", "Video encoders.") { Double($0.encoding.groups.count) },
            counter("room_frames_encoded", "Video frames encoded.") { $0.encoding.frames },
            counter("room_keyframes_encoded", "Keyframes encoded.") { $0.encoding.keyframes },
            counter("room_encoded_bytes", "Bytes of the frames encoded.") { $0.encoding.bytes },
            counter("room_encoded_keyframe_bytes", "Bytes of the keyframes encoded.") { $0.encoding.keyframeBytes },
            counter(
                "room_encoder_failures",
                "Encoders that could not be made or did not encode; tried again after 0.25 s, doubling to 30 s."
            ) { $0.encoding.failures },
            counter("room_encoder_moves", "Receivers moved between encoders.") { $0.encoding.moves },
            gauge("room_forwarding_receivers", "Receivers of forwarded video.") { Double($0.forwarding.receivers) },
            gauge("room_forwarding_audio_receivers", "Receivers of forwarded audio.") {
                Double($0.forwarding.audioReceivers)
            },
            counter("room_forwarding_packets", "Packets forwarded.") { $0.forwarding.packets },
            counter("room_forwarding_switches", "Changes between encoders and forwarded packets.") {
                $0.forwarding.switches
            },
            counter("room_late_audio_ticks", "Audio ticks that came late because the mixer was busy.") {
                $0.lateAudioTicks
            },
        ]
    }
}
