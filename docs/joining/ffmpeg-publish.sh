# Publishes bars and a tone with ffmpeg; $PUBLISHING is the participant. Source it after the variables.
KEY=$(head -c 30 /dev/urandom | base64)   # 16 bytes of key and 14 of salt
rm -f publish-offer.sdp                   # one of an earlier run has another key

ffmpeg -hide_banner -loglevel error -re \
    -f lavfi -i smptebars=size=640x360:rate=30 -f lavfi -i sine=frequency=440:sample_rate=48000 \
    -map 0:v -c:v libx264 -preset veryfast -tune zerolatency -pix_fmt yuv420p -g 30 -b:v 800k \
    -f rtp -payload_type 96 -srtp_out_suite AES_CM_128_HMAC_SHA1_80 -srtp_out_params "$KEY" \
    "srtp://127.0.0.1:$PORT?rtcpport=$PORT&pkt_size=1200" \
    -map 1:a -c:a libopus -ac 2 -b:a 48k \
    -f rtp -payload_type 97 -srtp_out_suite AES_CM_128_HMAC_SHA1_80 -srtp_out_params "$KEY" \
    "srtp://127.0.0.1:$PORT?rtcpport=$PORT&pkt_size=1200" \
    -sdp_file publish-offer.sdp </dev/null &
PUBLISHER=$!

until [ -s publish-offer.sdp ] || ! kill -0 "$PUBLISHER"; do sleep 0.1; done
PUBLISHING=$(curl -sS --fail-with-body -H 'Content-Type: application/sdp' --data-binary @publish-offer.sdp \
    -o publish-answer.sdp -w '%header{location}' "$RELAY/whip/$ROOM?name=Bars")
