// glibc's additions to POSIX, which Swift's module of it does not show.
#define _GNU_SOURCE
#include "CSpawn.h"

int spawn_close_from(posix_spawn_file_actions_t *actions, int descriptor) {
    return posix_spawn_file_actions_addclosefrom_np(actions, descriptor);
}

int spawn_change_folder(posix_spawn_file_actions_t *actions, const char *folder) {
    return posix_spawn_file_actions_addchdir_np(actions, folder);
}
