// SPDX-License-Identifier: GPL-3.0-or-later
// A job of the tests of gsim drive that cooperates: it prints its iterations, and goes on where it saved its count.
// With a file's name it stands at its thirtieth iteration until that file is there, so that it is stopped before its end
// whatever the machine's load.
#include <stdio.h>
#include <unistd.h>
#include "gsim_job.h"
int main(int argc, char **argv) {
    int i = 0;
    FILE *state = gsim_worker_begin(40) ? fopen(gsim_worker_state(), "r") : NULL;
    if (state && fscanf(state, "%d", &i) == 1)
        fclose(state);
    while (i < 40) {
        usleep(20000);
        if (i == 30 && argc > 1 && access(argv[1], F_OK) != 0)
            ; /* it tells of this iteration once more */
        else
            printf("%d\n", ++i);
        if (!gsim_worker_iteration(i))
            continue;
        state = fopen(gsim_worker_state(), "w");
        fprintf(state, "%d", i);
        fclose(state);
        gsim_worker_saved();
        return 0;
    }
    gsim_worker_end();
    return 0;
}
