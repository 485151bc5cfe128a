# Offers the receiving ports for watching the room; $WATCHING is the participant. Source it after the variables.
KEY=$(head -c 30 /dev/urandom | base64)   # for what we send: nothing, but an offer has to have one

cat > watch-offer.sdp <<END
v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=video $VIDEO_PORT RTP/SAVP 96
a=recvonly
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1;profile-level-id=64001f
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:$KEY
m=audio $AUDIO_PORT RTP/SAVP 97
a=recvonly
a=rtpmap:97 opus/48000/2
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:$KEY
END
rm -f watch-answer.sdp   # the keys of an earlier session decrypt nothing
WATCHING=$(curl -sS --fail-with-body -H 'Content-Type: application/sdp' --data-binary @watch-offer.sdp \
    -o watch-answer.sdp -w '%header{location}' "$RELAY/whep/$ROOM?name=Viewer")
