# Publishes bars and a tone with gst-launch-1.0; $PUBLISHING is the participant. Source it after the variables.
head -c 30 /dev/urandom > publish.key   # 16 bytes of key and 14 of salt

cat > publish-offer.sdp <<END
v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
c=IN IP4 0.0.0.0
t=0 0
m=video 9 RTP/SAVP 96
a=sendonly
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:$(base64 < publish.key)
m=audio 9 RTP/SAVP 97
a=sendonly
a=rtpmap:97 opus/48000/2
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:$(base64 < publish.key)
END
PUBLISHING=$(curl -sS --fail-with-body -H 'Content-Type: application/sdp' --data-binary @publish-offer.sdp \
    -o publish-answer.sdp -w '%header{location}' "$RELAY/whip/$ROOM?name=Bars")

HEX=$(od -An -v -tx1 publish.key | tr -d ' \n')
gst-launch-1.0 -q \
    videotestsrc is-live=true pattern=smpte ! video/x-raw,width=640,height=360,framerate=30/1 \
    ! x264enc tune=zerolatency speed-preset=veryfast bitrate=800 key-int-max=30 \
    ! rtph264pay pt=96 mtu=1200 config-interval=-1 \
    ! srtpenc key="$HEX" ! udpsink host=127.0.0.1 port="$PORT" \
    audiotestsrc is-live=true wave=sine freq=440 ! audio/x-raw,rate=48000,channels=2 \
    ! opusenc ! rtpopuspay pt=97 \
    ! srtpenc key="$HEX" ! udpsink host=127.0.0.1 port="$PORT" &
PUBLISHER=$!
