/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams and signals; gsim_cli does the rest. The first Ctrl-C asks the run to end cleanly, the
 * second one ends the process. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <unistd.h>

#include "sim/app/cli/cli.h"

static volatile sig_atomic_t stop;

static void on_signal(int signal_number) {
    stop = signal_number;
}

static void catch_signal(int signal_number) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(signal_number, &action, NULL);
}

int main(int argc, char **argv) {
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    struct gsim_io io = {
        .out = stdout, .err = stderr, .is_err_terminal = isatty(STDERR_FILENO) == 1, .stop = &stop};
    return gsim_cli(argc, argv, &io);
}
