#pragma once
#include <stdint.h>
#include <stdarg.h>
#include <x264.h>
