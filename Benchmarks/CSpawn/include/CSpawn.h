#pragma once

#include <spawn.h>

/// Has the child close all files from `descriptor` on. Zero, or an error number.
int spawn_close_from(posix_spawn_file_actions_t *actions, int descriptor);

/// Has the child work in `folder`. Zero, or an error number.
int spawn_change_folder(posix_spawn_file_actions_t *actions, const char *folder);
