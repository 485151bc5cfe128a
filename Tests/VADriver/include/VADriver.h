// A VA driver in software, for tests: libva loads it as it loads a GPU's. It has no interface but libva's.
#pragma once
