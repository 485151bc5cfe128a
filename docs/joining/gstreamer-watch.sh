# Records the room's picture and audio with gst-launch-1.0. Source it after watch-offer.sh.
# srtpdec takes the key and SSRC of a stream, which are in the answer, from its caps.
CIPHERS=srtp-cipher=aes-128-icm,srtp-auth=hmac-sha1-80,srtcp-cipher=aes-128-icm,srtcp-auth=hmac-sha1-80
caps() {   # of the $1 (video or audio), with clock rate $2, encoding $3 and payload type $4
    local lines ssrc key
    lines=$(tr -d '\r' < watch-answer.sdp | sed -n "/^m=$1/,/^m=/p")
    ssrc=$(sed -n 's/^a=ssrc:\([0-9]*\) .*/\1/p' <<< "$lines" | head -n 1)
    key=$(sed -n 's/^a=crypto:.* inline:\([^|]*\).*/\1/p' <<< "$lines" | head -n 1 | base64 -d | od -An -v -tx1)
    echo "application/x-srtp,media=$1,clock-rate=$2,encoding-name=$3,payload=$4,$CIPHERS,ssrc=(uint)$ssrc,"\
        "roc=(uint)0,srtp-key=(buffer)${key//[[:space:]]/}"
}
# jpegenc takes the values of YUV as they are, but JPEG has the full range.
FIXED=video/x-raw,format=RGB,width=1280,height=720,framerate=30/1,pixel-aspect-ratio=1/1
timeout --foreground --signal INT "$TIME" gst-launch-1.0 -q -e \
    udpsrc port="$VIDEO_PORT" caps="$(caps video 90000 H264 96)" ! srtpdec ! rtpjitterbuffer \
    ! rtph264depay ! avdec_h264 ! videorate ! videoscale add-borders=true ! videoconvert ! "$FIXED" \
    ! jpegenc ! matroskamux ! filesink location=seen.mkv \
    udpsrc port="$AUDIO_PORT" caps="$(caps audio 48000 OPUS 97)" ! srtpdec ! rtpjitterbuffer \
    ! rtpopusdepay ! opusdec ! wavenc ! filesink location=heard.wav || [ $? -eq 124 ]
