// RateControl
