#include "sim/app/cli.h"
enum gsim_status gsim_command_repro(struct gsim_cli *cli) { (void)cli; return GSIM_OK; }
