// One QP for all tiles of a picture, so that bits go where the content needs them, as in a canvas of one encoder.
#pragma once
#include <algorithm>
#include <cmath>

class SharedQP {
public:
    explicit SharedQP(double bitsPerPicture) : target(bitsPerPicture) {}

    int next() {
        if (complexity == 0) return qp;
        // Debt is paid back within a second.
        const double wanted = std::max(target * 0.3, target - debt / 30);
        const int ideal = int(std::lround(6 * std::log2(complexity / wanted)));
        qp = std::clamp(std::clamp(ideal, qp - 2, qp + 2), 10, 51);
        return qp;
    }

    // Bits are taken to halve with six steps of the QP.
    void spent(double bits) {
        const double seen = bits * std::exp2(qp / 6.0);
        complexity = complexity == 0 ? seen : complexity * 0.8 + seen * 0.2;
        // A keyframe's debt is bounded: the study measures what follows.
        debt = std::clamp(debt + bits - target, -15 * target, 30 * target);
    }

private:
    double target;
    double complexity = 0, debt = 0;
    int qp = 36;
};
