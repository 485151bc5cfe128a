#pragma once
#include <srt/srt.h>
