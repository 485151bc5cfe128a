#define _GNU_SOURCE
#include "driver.h"
#ifdef HAS_LIBVA
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A script and a log lie beside the library: va-script.txt is read where it is there, va-log.txt is added to where it
// is there. Each line of the script is a setting or a fault:
//
//     packed 0x0             VAConfigAttribEncPackedHeaders
//     rate 0x10              VAConfigAttribRateControl
//     entrypoint lp          EncSliceLP in place of EncSlice
//     layers 1               no temporal layers
//     slow 40                a new bit rate holds only after 40 frames
//     contexts 2             no third context on this display
//     size 640 480           the largest picture
//     processing 0           no VideoProc
//     blend 0x0              VAProcPipelineCaps.blend_flags
//     rotation 0x1           VAProcPipelineCaps.rotation_flags
//     surfaces 4             no more than these onto one target
//     bgra 0                 surfaces of NV12 alone
//     derive 0               no images of a surface's own memory
//     share 0                no surfaces of or for other displays
//     quiet 1                only ends are logged
//     17 status 0x6          the display's 17th call fails
//     vaSyncSurface#3 hang   the third call of this function never returns
//     40 delay 250           milliseconds
//     55 lose                the last picture's surface is gone
//     2:17 status 0x6        on the second display alone

static int displays;

static void path_beside(char *path, const char *name) {
    Dl_info info;
    path[0] = 0;
    if (!dladdr((void *)&read_script, &info) || !info.dli_fname) return;
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", info.dli_fname);
    snprintf(path, PATH_MAX, "%s/%s", dirname(copy), name);
}

static void read_line(Driver *driver, char *line) {
    char word[48] = "", second[48] = "", third[48] = "";
    if (line[0] == '#' || sscanf(line, "%47s %47s %47s", word, second, third) < 2) return;
    uint32_t number = (uint32_t)strtoul(second, NULL, 0);
    if (!strcmp(word, "packed")) {
        driver->packed_headers = number;
    } else if (!strcmp(word, "rate")) {
        driver->rate_control = number;
    } else if (!strcmp(word, "entrypoint")) {
        driver->entrypoint = strcmp(second, "lp") ? VAEntrypointEncSlice : VAEntrypointEncSliceLP;
    } else if (!strcmp(word, "layers")) {
        driver->layers = (int)number;
    } else if (!strcmp(word, "slow")) {
        driver->rate_delay = (int)number;
    } else if (!strcmp(word, "contexts")) {
        driver->context_limit = (int)number;
    } else if (!strcmp(word, "size")) {
        driver->maximum_width = (int)number;
        driver->maximum_height = (int)strtoul(third, NULL, 0);
    } else if (!strcmp(word, "processing")) {
        driver->processes = number != 0;
    } else if (!strcmp(word, "blend")) {
        driver->blend_flags = number;
    } else if (!strcmp(word, "rotation")) {
        driver->rotation_flags = number;
    } else if (!strcmp(word, "surfaces")) {
        driver->layer_limit = number < MAXIMUM_LAYERS ? (int)number : MAXIMUM_LAYERS;
    } else if (!strcmp(word, "bgra")) {
        driver->has_bgra = number != 0;
    } else if (!strcmp(word, "derive")) {
        driver->derives = number != 0;
    } else if (!strcmp(word, "share")) {
        driver->shares = number != 0;
    } else if (!strcmp(word, "quiet")) {
        driver->is_quiet = number != 0;
    } else if (driver->fault_count < MAXIMUM_FAULTS) {
        char *call = word, *colon = strchr(word, ':');
        if (colon) {
            if (atoi(word) != driver->display) return;
            call = colon + 1;
        }
        Fault *fault = &driver->faults[driver->fault_count++];
        char *hash = strchr(call, '#');
        if (hash) {
            *hash = 0;
            snprintf(fault->function, sizeof fault->function, "%.39s", call);
            call = hash + 1;
        }
        fault->call = strtoull(call, NULL, 0);
        snprintf(fault->action, sizeof fault->action, "%.11s", second);
        fault->argument = (uint32_t)strtoul(third, NULL, 0);
    }
}

void read_script(Driver *driver) {
    char path[PATH_MAX], line[256];
    driver->display = __atomic_add_fetch(&displays, 1, __ATOMIC_RELAXED);
    path_beside(path, "va-script.txt");
    FILE *script = path[0] ? fopen(path, "r") : NULL;
    if (script) {
        while (fgets(line, sizeof line, script)) read_line(driver, line);
        fclose(script);
    }
    path_beside(path, "va-log.txt");
    if (path[0] && access(path, W_OK) == 0) driver->log = fopen(path, "ae");
}

void log_line(Driver *driver, const char *format, ...) {
    if (!driver->log || driver->is_quiet) return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    // One write a line, as several displays write to the file.
    fprintf(driver->log, "%d:%llu %s\n", driver->display, (unsigned long long)driver->calls, text);
    fflush(driver->log);
}

VAStatus refuse(Driver *driver, VAStatus status, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_line(driver, "REFUSED 0x%x %s", status, text);
    fprintf(stderr, "VA driver for tests: call %llu of display %d: %s\n", (unsigned long long)driver->calls,
            driver->display, text);
    return status;
}

VAStatus enter_call(Driver *driver, const char *function) {
    driver->calls++;
    log_line(driver, "%s", function);
    VAStatus status = VA_STATUS_SUCCESS;
    for (int index = 0; index < driver->fault_count; index++) {
        Fault *fault = &driver->faults[index];
        if (fault->function[0]) {
            if (strcmp(fault->function, function) || fault->call == 0 || --fault->call > 0) continue;
        } else if (fault->call != driver->calls) {
            continue;
        }
        log_line(driver, "FAULT %s %u", fault->action, fault->argument);
        if (!strcmp(fault->action, "status")) {
            status = (VAStatus)fault->argument;
        } else if (!strcmp(fault->action, "delay")) {
            usleep(fault->argument * 1000);
        } else if (!strcmp(fault->action, "hang")) {
            // With the lock, as a system call that hangs holds its driver's.
            for (;;) pause();
        } else if (!strcmp(fault->action, "lose")) {
            Surface *surface = find_surface(driver, driver->last_target);
            if (surface) surface->lost = true;
        }
    }
    return status;
}
#endif
