# Sends the test camera over umts-1 in a real call and in the simulator: rates and delays in sockets.csv, simulator.csv.
# Run it in the package's folder, and end confrelay afterwards. With forwarding a call of two gets what Ada sends.
rm -rf flights   # of an earlier run
confrelay --canvas 640x360 --min-bitrate 150k --start-bitrate 300k --max-bitrate 1.5M --forwarding off \
    --flight-recorder flights &
confclient join http://127.0.0.1:7000/rooms/demo --name Ada --duration 66 --quiet &
sleep 3
confclient join http://127.0.0.1:7000/rooms/demo --name Ben --video none --audio none --duration 60 --quiet \
    --downlink trace=Simulations/traces/umts-1.down,delay=20ms,queue=300ms --uplink delay=20ms --stats ben.json
confsim record-replay flights/demo_Ben_*.flight --csv sockets.csv

confsim replay Simulations/traces/umts-1.down --link delay=20ms,queue=300ms --min 150k --start 300k --max 1.5M \
    --duration 60s --feedback-interval confclient --encoder openh264 --video-size 640x360 --flight-recorder sim.flight
confsim record-replay sim.flight --csv simulator.csv
