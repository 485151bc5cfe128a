"""`publish URL` sends colour bars and a tone by WHIP, `watch URL FILE` records the room's picture and audio by WHEP.
Leaves on SIGINT, SIGTERM, or after $TIME seconds."""
import contextlib, os, signal, sys, urllib.parse, urllib.request

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC

SOURCES = """webrtcbin name=rtc bundle-policy=max-bundle
    videotestsrc is-live=true pattern=smpte ! video/x-raw,width=640,height=360,framerate=30/1 ! videoconvert
    ! x264enc tune=zerolatency speed-preset=veryfast key-int-max=60 bitrate=800
    ! video/x-h264,profile=constrained-baseline ! rtph264pay config-interval=-1 aggregate-mode=zero-latency
    ! application/x-rtp,media=video,encoding-name=H264,payload=96 ! rtc.
    audiotestsrc is-live=true freq=440 ! audioconvert ! audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay
    ! application/x-rtp,media=audio,encoding-name=OPUS,payload=97 ! rtc."""
# The received picture may change its size, rate and colour. A Matroska file cannot, so all pictures become alike.
FIXED = ("avdec_h264 ! videorate ! videoscale add-borders=true ! videoconvert ! video/x-raw,format=I420,width=1280,"
    "height=720,framerate=30/1,pixel-aspect-ratio=1/1,colorimetry=bt601 ! x264enc tune=zerolatency speed-preset=veryfast")
RECORDER = "webrtcbin name=rtc bundle-policy=max-bundle latency=100 matroskamux name=file ! filesink location={}"
WANTED = [
    "application/x-rtp,media=video,encoding-name=H264,payload=96,clock-rate=90000,packetization-mode=(string)1,"
    "profile-level-id=(string)42e01f,rtcp-fb-nack=(boolean)true,rtcp-fb-nack-pli=(boolean)true",
    "application/x-rtp,media=audio,encoding-name=OPUS,payload=97,clock-rate=48000,encoding-params=(string)2",
]


def http(method, url, body=None):
    request = urllib.request.Request(url, body, {"Content-Type": "application/sdp"}, method=method)
    with urllib.request.urlopen(request) as response:
        return response.headers.get("Location"), response.read().decode()


def join(rtc, url):
    """Makes an offer, waits until its candidates are in it, and takes the relay's answer."""
    joined = {}

    def offer_made(promise, _):
        reply = promise.get_reply()  # owns the offer
        rtc.emit("set-local-description", reply.get_value("offer"), Gst.Promise.new())

    def gathered(_, __):
        if rtc.get_property("ice-gathering-state") != GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            return
        offer = rtc.get_property("local-description").sdp.as_text()
        try:
            location, text = http("POST", url, offer.encode())
        except OSError as error:  # the relay's refusal has the reason
            failures.append(f"{error}: {error.read().decode()}" if hasattr(error, "read") else str(error))
            GLib.idle_add(loop.quit)
            return
        joined["location"] = urllib.parse.urljoin(url, location)
        _, message = GstSdp.SDPMessage.new_from_text(text)
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        rtc.emit("set-remote-description", answer, Gst.Promise.new())

    rtc.connect("notify::ice-gathering-state", gathered)
    rtc.connect(
        "on-negotiation-needed",
        lambda _: rtc.emit("create-offer", None, Gst.Promise.new_with_change_func(offer_made, None)))
    return joined


tracks = {}
branches = []


def record(pipeline, pad):
    """Takes a received stream out of RTP and into the file."""
    kind = pad.get_current_caps().get_structure(0).get_string("media")
    chain = f"rtph264depay ! {FIXED} ! h264parse" if kind == "video" else "rtpopusdepay ! opusparse"
    branch = Gst.parse_bin_from_description(f"{chain} ! queue", True)
    pipeline.add(branch)
    branch.get_static_pad("src").link(tracks[kind])
    branch.sync_state_with_parent()
    pad.link(branch.get_static_pad("sink"))
    branches.append(branch)


Gst.init(None)
action, url = sys.argv[1:3]
pipeline = Gst.parse_launch(SOURCES if action == "publish" else RECORDER.format(sys.argv[3]))
rtc = pipeline.get_by_name("rtc")
if action == "watch":
    # Both from the start: the file begins when there is something of each.
    tracks = {kind: pipeline.get_by_name("file").request_pad_simple(f"{kind}_%u") for kind in ("video", "audio")}
    rtc.connect("pad-added", lambda _, pad: record(pipeline, pad))
    for caps in WANTED:
        rtc.emit("add-transceiver", GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY, Gst.Caps.from_string(caps))
loop = GLib.MainLoop()
failures = []
joined = join(rtc, url)


def failed(_, message):
    failures.append(f"{message.src.get_name()}: {message.parse_error()[0].message}")
    loop.quit()


bus = pipeline.get_bus()
bus.add_signal_watch()
bus.connect("message::error", failed)
pipeline.set_state(Gst.State.PLAYING)
for reason in (signal.SIGINT, signal.SIGTERM):
    GLib.unix_signal_add(GLib.PRIORITY_HIGH, reason, loop.quit)
GLib.timeout_add_seconds(int(os.environ.get("TIME", "20")), loop.quit)
loop.run()
if "location" in joined:
    with contextlib.suppress(OSError):  # a relay that has ended, or has sent us away, has no place to give up
        http("DELETE", joined["location"])
if action == "watch":  # ends the file as it should be
    for sink in [branch.get_static_pad("sink") for branch in branches]:
        sink.get_peer().unlink(sink)
        sink.send_event(Gst.Event.new_eos())
    pipeline.get_bus().timed_pop_filtered(2 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
for failure in failures:
    print(failure, file=sys.stderr)
os._exit(1 if failures else 0)  # webrtcbin may wait for its own threads for ever
