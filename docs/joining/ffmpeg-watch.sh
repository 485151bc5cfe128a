# Records the room's picture and audio with ffmpeg. Source it after watch-offer.sh.
sed -e "s/^m=video [0-9]*/m=video $VIDEO_PORT/" -e "s/^m=audio [0-9]*/m=audio $AUDIO_PORT/" \
    watch-answer.sdp > watch.sdp

# It reports errors until the first keyframe, hence the log level.
ffmpeg -hide_banner -loglevel fatal -protocol_whitelist file,rtp,udp,srtp,crypto -i watch.sdp \
    -t "$TIME" -c copy -y seen.mkv </dev/null
