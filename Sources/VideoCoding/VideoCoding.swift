// VideoCoding
