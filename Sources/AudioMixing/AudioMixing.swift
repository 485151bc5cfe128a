// AudioMixing
