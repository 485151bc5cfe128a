/// The part of a page's calls that tests can see. It is set up before the page's own scripts and does not change their
/// behaviour.
enum PageProbe {
    static let script = """
        (() => {
          const connections = [];
          window.RTCPeerConnection = class extends RTCPeerConnection {
            constructor(configuration) {
              super(configuration);
              connections.push(this);
            }
          };
          const current = () => connections.findLast(({ connectionState }) => connectionState !== 'closed');
          const stats = async (type, kind) => {
            const report = await current()?.getStats();
            return [...report?.values() ?? []].filter((entry) => entry.type === type && (!kind || entry.kind === kind));
          };
          const video = () => document.getElementById('remote-video');

          /** What is received, as counted since the connection began. */
          const received = async () => {
            const [picture] = await stats('inbound-rtp', 'video');
            const [audio] = await stats('inbound-rtp', 'audio');
            return {
              framesDecoded: picture?.framesDecoded ?? 0, width: picture?.frameWidth ?? 0,
              height: picture?.frameHeight ?? 0, freezeCount: picture?.freezeCount ?? 0,
              frozenSeconds: picture?.totalFreezesDuration ?? 0, videoBytes: picture?.bytesReceived ?? 0,
              bufferedSeconds: picture?.jitterBufferDelay ?? 0,
              bufferedFrames: picture?.jitterBufferEmittedCount ?? 0,
              audioBytes: audio?.bytesReceived ?? 0, audioPackets: audio?.packetsReceived ?? 0,
              audioEnergy: audio?.totalAudioEnergy ?? 0, milliseconds: picture?.timestamp ?? 0,
            };
          };

          /** What is sent, by stream: the camera's first. */
          const sent = async () => (await stats('outbound-rtp', 'video')).map((stream) => ({
            mid: stream.mid ?? '', framesEncoded: stream.framesEncoded ?? 0, width: stream.frameWidth ?? 0,
            height: stream.frameHeight ?? 0,
          })).sort((one, other) => Number(one.mid) - Number(other.mid));

          /** The picture's colours at the middle of each field of a grid, row by row: [red, green, blue]. */
          const colours = (columns, rows) => {
            const element = video();
            if (!element.videoWidth) return [];
            const canvas = new OffscreenCanvas(element.videoWidth, element.videoHeight);
            const context = canvas.getContext('2d', { willReadFrequently: true });
            context.drawImage(element, 0, 0);
            return Array.from({ length: columns * rows }, (_, index) => {
              const x = ((index % columns) + 0.5) * canvas.width / columns;
              const y = (Math.floor(index / columns) + 0.5) * canvas.height / rows;
              return [...context.getImageData(x, y, 1, 1).data.slice(0, 3)];
            });
          };

          let analyser = null;
          /**
           * For how many of the next measurements each frequency stood out of the audio. They end early when that is
           * enough of each.
           */
          const tones = async (frequencies, count, enough = count) => {
            analyser?.context.close();
            const context = new AudioContext();
            analyser = new AnalyserNode(context, { fftSize: 4096, smoothingTimeConstant: 0 });
            context.createMediaStreamSource(video().srcObject).connect(analyser);
            await context.resume();
            const levels = new Float32Array(analyser.frequencyBinCount);
            const heard = frequencies.map(() => 0);
            for (let measurement = 0; measurement < count && heard.some((times) => times < enough); measurement += 1) {
              await new Promise((resolve) => setTimeout(resolve, 50));
              analyser.getFloatFrequencyData(levels);
              frequencies.forEach((frequency, index) => {
                const bin = Math.round(frequency / context.sampleRate * analyser.fftSize);
                const level = Math.max(...levels.slice(bin - 1, bin + 2));
                const beside = Math.max(...levels.slice(bin - 14, bin - 8), ...levels.slice(bin + 9, bin + 15));
                if (level > -70 && level > beside + 12) heard[index] += 1;
              });
            }
            return heard;
          };

          window.probe = { connections, received, sent, colours, tones };
        })();
        """
}
