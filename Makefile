# SPDX-License-Identifier: GPL-3.0-or-later
# gsim: builds ./gsim (and ./libgsim.a and ./libgsim.so, when asked); `make help` lists what else there
# is.
# Nothing here runs a compiler or pkg-config while the file is parsed: `make demo` and
# `make check` must work on a machine that has only git and make.
CC       = gcc
OPT      = -O2
PREFIX   = /usr/local
JOBS     = $$(nproc)
# A plain `make` compiles as many files at once as there are processors, unless it is told how many (-j1);
# what goes through other makes says so itself.
ifeq ($(MAKELEVEL)$(filter-out all gsim libgsim.a libgsim.so,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
# Each set of flags has a folder of its own, so that `make check` never takes over an object whose
# warnings were let pass.
VARIANT  = $(notdir $(CC))$(OPT)$(if $(SAN),-san)$(if $(FUZZ),-fuzz)$(if $(WERROR),-werror)$(if $(PROFILE),-release)$(filter-out -g1,$(DEBUG))$(if $(and $(filter command,$(origin LTO)),$(if $(LTO),,1)),-plain)
BUILD    = build/$(VARIANT)

# What runs at every event is optimised across files: gcc's objects of these rooms hold no machine code.
# It is made for gsim when gsim is linked, as one program whose parts nobody else calls; and once more as
# one object, hot.o, for whatever else links the library. `make LTO=` compiles them as other files are,
# for short ways from an edit to a run; what it makes lies in a folder of its own (-plain).
HOT      = sim/base sim/core models policies
# Of these rooms, some files run once a round, or once a run, and leave their time in loops of their own:
# policies that plan in rounds, the numerics that they call, profiles of devices, serving. To have them in
# that one program takes a sixth of the time of its link.
ROUNDS   = elasticflow gavel kueue lucid muri shockwave synergy themis
NUMERICS = assignment conic_cone conic_path conic_system descent line_search lp lp_tableau matching real shares_objectives shares_path
MODELS_APART = batching llm llm_gpu roofline
APART    = $(foreach policy,$(ROUNDS),$(filter $(BUILD)/policies/$(policy)/%.o,$(LIB_OBJ))) $(NUMERICS:%=$(BUILD)/policies/lib/%.o) \
           $(filter $(BUILD)/models/hardware/%.o,$(LIB_OBJ)) $(MODELS_APART:%=$(BUILD)/models/gpu/%.o)
# -O3 is for what runs at every event of a cluster, and for rounds and their numerics: a tenth fewer instructions of most
# policies than -O2.
# What runs once a command, or once a line of a foreign log, is compiled for a short build.
OFTEN    = $(filter-out $(BUILD)/models/%,$(HOT_OBJ))
READERS  = after assume build cells csv lines mapped native read rows values write
ONCE     = $(foreach room,$(filter-out sim/app/results sim/app/sweep,$(wildcard sim/app/*)) sim/calibrate sim/job sim/site,$(BUILD)/$(room)/%.o) \
           $(filter-out $(READERS:%=$(BUILD)/traces/%.o),$(filter $(BUILD)/traces/%,$(LIB_OBJ)))
LTO      = $(if $(SAN)$(filter-out gcc,$(notdir $(CC))),,-flto=auto)

# Warnings take a tenth of the time of a build. They are for builds in which the code is changed (`make LTO=`), and
# make errors of the check's.
WARN     = $(if $(or $(WERROR),$(filter %-plain,$(VARIANT))),-Wall -Wextra -Wpedantic -Wconversion -Wshadow) $(if $(WERROR),-Werror)
SANITIZE = $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all $(SPARED) -fno-omit-frame-pointer $(STRIPPED) -DGSIM_SANITIZED -DGSIM_PARANOID) \
           $(if $(FUZZ),$(if $(SAN),-fsanitize=fuzzer-no-link,-fsanitize=undefined -fsanitize-trap=undefined))
# A pointer that is null, that passes the end of its object or that wraps is found by the address sanitizer as soon as
# memory is read or written through it. To check the pointer itself as well took a quarter of the time of this build.
# CASES=all checks pointers too, and so do fuzzers.
SPARED   = $(if $(FUZZ)$(filter all,$(CASES)),,-fno-sanitize=null$(comma)object-size$(comma)pointer-overflow)
# clang's sanitizer learns of globals by one function of the program, and not by one of each object: each start read the
# pages of 190 such functions, which lay all over 16 MB, and took a quarter longer where globals are marked.
STRIPPED = $(if $(filter clang,$(notdir $(CC))),-fsanitize-address-globals-dead-stripping -fdata-sections)
comma    = ,
# Equal sources give equal bytes in whatever folder: no object names its folder, and names that the
# compiler makes up follow from the source file's.
# Lines of the source are known to a backtrace and to a profile. `make DEBUG=-g3 OPT=-Og` knows variables,
# and takes a fifth longer. All objects may be part of something that is loaded: the linker makes direct
# calls of those within one program, and nothing is compiled twice.
DEBUG    = -g1
# TIMES=1 notes the processor time of each file that is made, in build/times.
ifneq ($(TIMES),)
SHELL    = $(CURDIR)/tools/timed_shell.sh
endif
PIC      = -fPIC -fno-semantic-interposition
# PROFILE=train counts which ways a run takes, PROFILE=use compiles by these counts (`make release`).
COUNTS   = $(if $(filter train,$(PROFILE)),-fprofile-generate -fprofile-update=prefer-atomic) $(if $(filter use,$(PROFILE)),-fprofile-use -fprofile-correction -Wno-missing-profile)
# A number that is written past its end stops the program, and does not become a result: calls of libc know
# sizes (-D_FORTIFY_SOURCE), stacks have guards, and what the loader filled in is read-only. Sanitizers bring
# checks of their own. Objects that run at every event have guards beside arrays of letters alone: guards beside
# all that has an address are 1 % of a run's instructions more. -fcf-protection is left out: as much again, for
# a mark that Debian's crt1.o takes off. tests/rules/install.sh looks for all of it in what is installed.
HARDEN   = $(if $(SAN)$(filter -O0,$(OPT)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection)
SEALED   = $(if $(HARDEN),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now)
# A program with sanitizers has a place of its own: each of its checks has a description with addresses in it, and to
# move 330 000 of these took a third of the processor time of each start, of which tests have thousands.
PLACE    = $(if $(SAN),-no-pie,-pie)
CODEGEN  = -std=c11 $(OPT) $(COUNTS) $(DEBUG) -ffp-contract=off -ffile-prefix-map=$(CURDIR)=. $(HARDEN) $(SANITIZE)
SEED     = -frandom-seed=$<
COMPILE  = $(CC) $(CFLAGS) $(SEED) $(CPPFLAGS) -MMD -MP -c -o $@ $<
CFLAGS   = $(CODEGEN) $(PIC) $(WARN)
CPPFLAGS = -I. -Iinclude
LIBS     = -linih -lcsv -lyajl -lsqlite3 -lz -lzstd -lnettle -lgsl -lgslcblas -lm -lpthread
LIB_LIBS = $(filter-out -lsqlite3 -lnettle,$(LIBS))
# The program has in it the libraries of which there are archives, and names the others: a run of one job is 3.2 million
# instructions, and 5.5 where the loader has ten libraries to join (some 8 ms in the kernel for 11). Archives that
# lack a library of their own are left: the program is linked with all shared then, as with SHARED=1.
ARCHIVED = $(or $(filter /%,$(shell $(CC) -print-file-name=$(patsubst -l%,lib%.a,$(1:-lyajl=-lyajl_s)))),$(1))
PROGRAM_LIBS = $(if $(SHARED),$(LIBS),$(foreach lib,$(filter-out -lm -lpthread,$(LIBS)),$(call ARCHIVED,$(lib))) -lm -lpthread)
LINK_GSIM = $(CC) $(CODEGEN) $(LTO) $(PLACE) $(SEALED) -o $@ $(filter %.o %.a,$^) -Wl,--dynamic-list=$(BUILD)/installed/names.dynamic

# Half of the time in which a small file is compiled goes into the start of the compiler and into headers. The files
# of a room are compiled as one, room.o, but for those that stand alone: they have flags of their own, or give things
# of their own names that others of the room have. A build that is there for short ways from an edit to a run (-plain),
# and clang's of CASES=all, compile each file by itself, so that a file that forgot to include something is found;
# tests/rules/includes.sh finds it of the project's own headers.
TOGETHER = $(addprefix sim/,api base calibrate core exec site study) $(addprefix models/,gpu hardware jobs links memory) traces \
           $(addprefix sim/app/,apart check cli compare drive figures identity live manual plan results setup sweep tables validate workload) \
           $(addprefix policies/,adaptdl antman elasticflow gandiva gang_rr gavel kueue lib lucid muri shockwave slurm synergy tgs themis tiresias)
ALONE    = $(addprefix sim/base/,decimal eventq ini sort team units) \
           $(addprefix models/gpu/,$(MODELS_APART) alone arbiter atoms fast_forward gate lane memory_queue program_alone rotation shared_sms slice_log \
               sm_array sm_rates space turn_memory) \
           $(addprefix traces/,$(READERS) app_calls apps by_model estimate free_texts gavel goodput gpu_mem helios input json known_jobs kube \
               kube_objects llm_models llm_requests muri ncu nsys openb pai_tables philly philly_log pollux prometheus rates repeats resample \
               sacct swf synergy timeline timeline_csv timeline_kineto timeline_write tiresias) \
           $(addprefix sim/app/drive/,command executor image moves rehearsal replay start work_gpu) \
           $(addprefix policies/lib/,$(NUMERICS) easy gittins knapsack order ranked reach sharing skyline vacancy waiting) \
           $(addprefix policies/,$(addprefix adaptdl/,pollux search sia sia_weigh tiresias) $(addprefix elasticflow/,las loop promise reference share steps turns))
ROOMS    = $(if $(or $(filter %-plain,$(VARIANT)),$(and $(WERROR),$(if $(SAN),,$(filter clang,$(notdir $(CC)))))),,$(TOGETHER))
FILES_OF = $(filter-out $(ALONE:%=%.c),$(wildcard $(1)/*.c))
# The objects of files: those of rooms, and one of each other file.
OBJECTS  = $(patsubst %,$(BUILD)/%/room.o,$(filter $(ROOMS),$(sort $(patsubst %/,%,$(dir $(1)))))) \
           $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(foreach room,$(ROOMS),$(call FILES_OF,$(room))),$(1)))

# The library simulates; the program reads its command line, keeps results, compares and draws.
LIB_SRC  = $(wildcard sim/base/*.c sim/api/*.c sim/site/*.c sim/core/*.c models/*/*.c traces/*.c policies/*.c policies/*/*.c)
LIB_OBJ := $(call OBJECTS,$(LIB_SRC)) $(BUILD)/embedded.o
# The list of policies is left out: a program may bring its own.
HOT_OBJ  = $(if $(LTO),$(filter-out $(BUILD)/policies/registry.o $(APART),$(foreach room,$(HOT),$(filter $(BUILD)/$(room)/%.o,$(LIB_OBJ)))))
JOINED   = $(if $(LTO),$(BUILD)/hot.o) $(filter-out $(HOT_OBJ),$(LIB_OBJ))
APP_SRC  = $(wildcard sim/study/*.c sim/exec/*.c sim/calibrate/*.c sim/app/*/*.c sim/job/*.c)
APP_OBJ := $(call OBJECTS,$(APP_SRC)) $(BUILD)/pages.o $(BUILD)/sources.o
ARCHIVES = $(BUILD)/libapp.a $(BUILD)/libgsim.a
EMBEDDED = $(sort $(wildcard models/devices/*.ini models/apps/*.csv sim/*/*.ptx sim/app/*/*.ptx plots/*.sql plots/*.gp plots/*.js experiments/validate/*/*))
# The manual, which `gsim help PAGE` shows. It changes no result, so it is none of the SOURCES.
PAGES    = $(sort $(wildcard docs/*.md docs/models/*.md docs/reference/*.md))
SOURCES  = $(sort $(LIB_SRC) $(APP_SRC) $(wildcard include/gsim/*.h include/gsim/*.def sim/*/*.h sim/study/*.def sim/app/*/*.h sim/app/*/*.def models/*/*.h models/*/*.def traces/*.h traces/*.def policies/*.h policies/*/*.h policies/*.def) $(EMBEDDED))
VERSION  = $(shell sed -n 's/^.define GSIM_VERSION "\(.*\)"/\1/p' sim/app/identity/program.h)

# The number of the interface between gsim and what is linked with it, or loaded by it.
ABI      = $(shell sed -n 's/^.define GSIM_ABI \([0-9]*\)$$/\1/p' include/gsim/policy.h)

.PHONY: FORCE rooms all release demo check bench bench-sizes figures golden-update samples docs man docs-reference docs-pages docs-python docs-figures readme validate-readme install python deb deb-check clean help format tidy analyse suites fuzz fuzz-runs
all: gsim

# The default variant's results stand at the root; other variants stay below build/.
gsim libgsim.a libgsim.so: %: $(BUILD)/%
	@cp -f $< $@

# Policies that are shared objects of their own (--policy ./mine.so) call functions of the program: all
# of the library's objects are linked, and the names of the installed headers are shown. To optimise
# across files takes 50 s of processor time. A build with WERROR, which is there for tests, does so once:
# its gsim has the library's hot.o, and takes up to 0.8 % more instructions than the program that users
# get. CASES=all holds both to equal bytes.
$(BUILD)/gsim: $(BUILD)/sim/app/main.o $(BUILD)/libapp.a $(if $(WERROR),$(JOINED),$(LIB_OBJ)) $(BUILD)/installed/names.dynamic
	$(LINK_GSIM) $(PROGRAM_LIBS) 2>$@.log || $(LINK_GSIM) $(LIBS)

$(BUILD)/libgsim.a: $(JOINED)
$(BUILD)/libapp.a: $(APP_OBJ)
$(ARCHIVES):
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/hot.o: $(HOT_OBJ)
	$(CC) $(CODEGEN) $(PIC) $(LTO) -r -flinker-output=nolto-rel -o $@ $^

# Calls within the shared library stay within it.
$(BUILD)/libgsim.so: $(BUILD)/libgsim.a $(BUILD)/installed/names.map
	$(CC) $(CODEGEN) -fno-lto -shared $(SEALED) -Wl,-soname,libgsim.so.$(ABI) -Wl,-z,defs \
	    -Wl,--version-script=$(BUILD)/installed/names.map -o $@ -Wl,--whole-archive $< -Wl,--no-whole-archive $(LIB_LIBS)

# Folders are made once, and not by each of the hundreds of objects in them.
.SECONDEXPANSION:
.PRECIOUS: %/.
%/.:
	@mkdir -p $@
# A folder is newer than what was made of its list of files once a file comes or goes.
$(ROOMS:%=$(BUILD)/%/room.c): $(BUILD)/%/room.c: % tools/room.sh Makefile | $$(@D)/.
	@sh tools/room.sh $(sort $(call FILES_OF,$*)) >$@
# A name of one file may well shadow another file's. Within a function it does not.
$(ROOMS:%=$(BUILD)/%/room.o): CFLAGS += -Wno-shadow $(if $(and $(WARN),$(filter gcc,$(notdir $(CC)))),-Wshadow=local)
$(ROOMS:%=$(BUILD)/%/room.o): %.o: %.c
	$(COMPILE)
$(BUILD)/%.o: %.c Makefile | $$(@D)/.
	$(COMPILE)

$(HOT_OBJ): CFLAGS += $(if $(HARDEN),-fstack-protector) $(LTO) -fno-fat-lto-objects -Wa,--debug-prefix-map=$(CURDIR)=.
ifeq ($(OPT),-O2)
$(OFTEN) $(filter $(BUILD)/policies/%,$(APART)): CFLAGS += -O3
$(filter $(ONCE),$(APP_OBJ) $(LIB_OBJ)): CFLAGS += -Og
endif

$(BUILD)/embedded.o: build/embedded.c | $$(@D)/.
	$(CC) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

build/embedded.c: tools/embed.sh $(EMBEDDED)
	@mkdir -p $(@D)
	sh tools/embed.sh $@ $(EMBEDDED)

$(BUILD)/pages.o: build/pages.c | $$(@D)/.
	$(CC) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

build/pages.c: tools/embed.sh $(PAGES)
	@mkdir -p $(@D)
	TABLE=gsim_page_files sh tools/embed.sh $@ $(PAGES)

# A line for each room, with its files (tests/rules/rooms.sh).
rooms:
	@$(foreach room,$(TOGETHER),echo '$(room)' $(sort $(call FILES_OF,$(room)));)

# What the program is made of, so that results can say it. Summed in every make, whatever times files
# have; the file is only touched when a sum is another one.
$(BUILD)/sources.o: build/sources.c | $$(@D)/.
	$(CC) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

build/sources.c: FORCE
	@mkdir -p $(@D)
	@sh tools/sources.sh $@ $(SOURCES)

# --- tests ---------------------------------------------------------------------------------------
# The suites are one program, so that a build is linked once: `tests/all unit/test_text` runs one of them.
TEST_DIR = unit analytic property reference
# Suites that hold numbers by long runs are not compiled with sanitizers (tests/run.sh says why), but for CASES=all.
NUMBERS  = tests/analytic/%.c tests/reference/%.c $(foreach name,adaptive named sweeps,tests/property/test_$(name).c)
TEST_SRC = $(filter-out $(if $(SAN),$(if $(filter all,$(CASES)),,$(NUMBERS))),$(sort $(foreach room,$(TEST_DIR),$(wildcard tests/$(room)/*.c))))
TEST_OBJ = $(TEST_SRC:%.c=$(BUILD)/%.o)
# With sanitizers only sim/base, the engine and the models are optimised: the rest compiles in a fifth to a half
# of the time without, and no check is optimised away. A fuzzer lives on speed, and is left as it is.
COLD_OBJ = $(APP_OBJ) $(TEST_OBJ) $(filter-out $(foreach room,$(filter-out policies,$(HOT)),$(BUILD)/$(room)/%.o),$(LIB_OBJ))
$(if $(and $(SAN),$(if $(FUZZ),,1)),$(COLD_OBJ)): CFLAGS += -O0
# Which cases there are is compiled in: the file is touched when CASES is another one.
$(BUILD)/tests/cases: FORCE
	@mkdir -p $(@D)
	@echo '$(CASES)' | cmp -s - $@ || echo '$(CASES)' >$@
$(TEST_OBJ): $(BUILD)/tests/cases
# unit/test_text.c has main_unit_test_text.
MAIN     = main_$(subst /,_,$(1:$(BUILD)/tests/%=%))
# A suite's time goes into what it calls.
ifeq ($(OPT),-O2)
$(TEST_OBJ): CFLAGS += -Og
endif
$(TEST_OBJ): CPPFLAGS += -Dmain=$(call MAIN,$(@:%.o=%)) $(if $(filter all,$(CASES)),-DGSIM_ALL_CASES)
$(BUILD)/tests/all: $(TEST_OBJ) $(BUILD)/tests/all.o $(BUILD)/tests/support/runner.o $(ARCHIVES)
	$(CC) $(CODEGEN) -fno-lto $(if $(SAN),$(PLACE)) -o $@ $^ -lcmocka $(LIBS)
$(BUILD)/tests/all.o: $(BUILD)/tests/all.c
	$(CC) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<
$(BUILD)/tests/all.c: tools/suites.sh Makefile $(TEST_SRC) $(BUILD)/tests/cases
	@mkdir -p $(@D)
	sh tools/suites.sh $(TEST_SRC) >$@
# One suite as a program of its own, for short ways from an edit to a run.
$(TEST_OBJ:%.o=%): %: %.o $(BUILD)/tests/support/runner.o $(ARCHIVES)
	$(CC) $(CODEGEN) -fno-lto -Wl,--defsym=main=$(call MAIN,$@) -o $@ $^ -lcmocka $(LIBS)

$(BUILD)/tests/bench/bench: $(BUILD)/tests/bench/bench.o $(BUILD)/tests/support/runner.o $(ARCHIVES)
	$(CC) $(CODEGEN) -fno-lto -o $@ $^ -lcmocka $(LIBS)
$(BUILD)/tests/bench/bench: $(patsubst %,$(BUILD)/tests/bench/%.o,bare paired process rows)
$(BUILD)/tests/bench/sizes: $(BUILD)/tests/bench/sizes.o $(BUILD)/tests/bench/process.o
	$(CC) $(CODEGEN) -fno-lto -o $@ $^ -lm

# Inputs that somebody might give (tests/fuzz/target.h): mutated at random by every `make check`, and by
# what they reach for as long as one likes by `make fuzz`. What it finds belongs into tests/fuzz/corpus.
# PARTS=all takes each reader alone in turn, PARTS="units spec" these; without it, whole commands are run.
FUZZ_S = 300
FUZZ_SEED = 0
PARTS =
FUZZ_PARTS = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/part*.c))
$(BUILD)/tests/fuzz/replay: $(BUILD)/tests/fuzz/replay.o $(BUILD)/tests/fuzz/target.o $(FUZZ_PARTS) $(ARCHIVES)
	$(CC) $(CODEGEN) -fno-lto $(if $(SAN),$(PLACE)) -o $@ $^ $(LIBS)
$(BUILD)/tests/fuzz/fuzz: $(BUILD)/tests/fuzz/fuzz.o $(BUILD)/tests/fuzz/target.o $(ARCHIVES)
	$(CC) $(CODEGEN) -fsanitize=fuzzer -o $@ $^ $(LIBS)
# A reader alone (tests/fuzz/parts.h) takes a hundred times as many inputs a second as a command does. Undefined
# behaviour stops it, by an instruction and without a report. The rooms of readers show the fuzzer their ways;
# the rest of the program is that of other tests, whose ways would be cleared and read for each input. Numbers
# that are compared are not shown, which took two thirds of the time, nor how names that are nearly right are
# found (text.c), which took a half of the rest.
FUZZ_ROOMS = sim/base sim/api sim/site traces models/hardware sim/app/sweep sim/app/setup sim/app/check sim/app/cli
FUZZ_READS = $(filter-out $(BUILD)/sim/base/text.o,$(filter $(FUZZ_ROOMS:%=$(BUILD)/%/%),$(LIB_OBJ) $(APP_OBJ)))
$(if $(and $(FUZZ),$(if $(SAN),,1)),$(FUZZ_READS)): CFLAGS += -fsanitize-coverage=inline-8bit-counters,pc-table
FUZZ_REST  = build/gcc-O2-werror-plain
$(BUILD)/libread.a: $(FUZZ_READS)
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/tests/fuzz/parts: $(BUILD)/tests/fuzz/fuzz_parts.o $(FUZZ_PARTS) $(BUILD)/libread.a | $(FUZZ_REST)/libapp.a $(FUZZ_REST)/libgsim.a
	$(CC) $(CODEGEN) -fsanitize=fuzzer -o $@ $^ $(FUZZ_REST)/libapp.a $(FUZZ_REST)/libgsim.a $(LIBS)
fuzz:
	@sh tools/setup.sh test
	@PARTS="$(PARTS)" SAN=$(SAN) FUZZ_S=$(FUZZ_S) FUZZ_SEED=$(FUZZ_SEED) JOBS=$(JOBS) MAKE="$(MAKE)" sh tests/fuzz/fuzz.sh

# Runs that a seed draws: any policy with any settings, on any cluster, checked by what they wrote. What
# is found is kept in build/random-runs, with its command. FIRST=SEED begins at that seed.
N = 2000
fuzz-runs: gsim $(BUILD)/tests/fuzz/cases
	@$(PYTHON) tests/fuzz/random_runs.py ./gsim --cases $(BUILD)/tests/fuzz/cases --runs $(N) $(if $(FIRST),--first $(FIRST))
	@$(PYTHON) tests/fuzz/random_runs.py ./gsim --cases $(BUILD)/tests/fuzz/cases --mixtures --runs $(N) $(if $(FIRST),--first $(FIRST))

# Random runs in forks of one process, in place of starting gsim twice for each.
$(BUILD)/tests/fuzz/cases: $(BUILD)/tests/fuzz/cases.o $(ARCHIVES)
	$(CC) $(CODEGEN) -fno-lto -static -o $@ $^ $(LIBS:-lyajl=-lyajl_s) 2>$@.log || $(CC) $(CODEGEN) -fno-lto -o $@ $^ $(LIBS)

# gsim without shared libraries (tests/run.sh); gsim itself where a library has no archive here.
$(BUILD)/tests/static: $(BUILD)/sim/app/main.o $(ARCHIVES) $(BUILD)/gsim
	$(CC) $(CODEGEN) -fno-lto -static -o $@ $(filter %main.o %.a,$^) $(LIBS:-lyajl=-lyajl_s) 2>$@.log || cp $(BUILD)/gsim $@

# Commands whose instructions valgrind counts.
$(BUILD)/tests/counted: $(BUILD)/tests/support/counted.o $(ARCHIVES)
	$(CC) $(CODEGEN) -fno-lto -static -o $@ $^ $(LIBS:-lyajl=-lyajl_s) 2>$@.log || $(CC) $(CODEGEN) -fno-lto -o $@ $^ $(LIBS)

suites: $(BUILD)/gsim $(BUILD)/tests/all $(if $(SAN),$(BUILD)/tests/fuzz/replay,$(BUILD)/tests/static $(BUILD)/tests/fuzz/cases $(BUILD)/tests/counted)

# Each variant is a build of its own; the first one is the one that users get. Sanitizers are clang's: gcc's
# find nothing more, and another build of everything takes a quarter of the time of all builds. CASES=all
# adds clang's -O3, and leaves out no suite and no case (tests/run.sh).
VARIANTS = build/gcc-O2-werror $(if $(filter all,$(CASES)),build/clang-O3-werror) build/clang-O1-san-werror
# All builds are one make's, so that no processor waits for the last link of one before the next begins.
# ./gsim stays what `make` made of it, which is linked in another way than the programs of these builds.
# TIMES=1: at the end, where processor time went.
BUILDS   = build-first build-sanitized $(if $(filter all,$(CASES)),build-released build-clang)
.PHONY: $(BUILDS)
$(BUILDS): build/embedded.c build/pages.c build/sources.c # which each of them has in it
build-first:
	@$(MAKE) -s WERROR=1 CC=gcc OPT=-O2 build/gcc-O2-werror/libgsim.so python suites
build-sanitized:
	@$(MAKE) -s WERROR=1 CC=clang OPT=-O1 SAN=1 suites
build-released:
	@$(MAKE) -s CC=gcc OPT=-O2 gsim
build-clang:
	@$(MAKE) -s WERROR=1 CC=clang OPT=-O3 suites
check:
	@sh tools/setup.sh test
	@rm -f build/times
	@$(MAKE) -s -j$(JOBS) $(BUILDS)
	@$(if $(TIMES),sh tools/times.sh)
	@BUILDS="$(strip $(VARIANTS))" CASES="$(CASES)" PYTHON="$(PYTHON)" $(if $(TIMES),SLOWEST=1000) sh tests/run.sh

golden-update: gsim
	sh tests/golden/run.sh ./gsim update
	sh tests/cli/plots.sh ./gsim update

# --- for users -----------------------------------------------------------------------------------
# ./gsim by the counts of a training run: a tenth faster, with equal results, by gcc alone.
# `make PROFILE=use install` then installs it.
RELEASE  = build/gcc-O2-release
release:
	@sh tools/setup.sh build
	@rm -rf $(RELEASE)
	@$(MAKE) -s -j$(JOBS) PROFILE=train $(RELEASE)/gsim
	@sh tools/train.sh $(RELEASE)/gsim
	@find $(RELEASE) -type f ! -name '*.gcda' -delete
	@$(MAKE) -s -j$(JOBS) PROFILE=use gsim

demo:
	@sh tools/setup.sh build
	@$(MAKE) -s -j$(JOBS) gsim
	@sh tools/demo.sh ./gsim

samples: gsim
	for spec in traces/samples/*.ini; do ./gsim generate $$spec --force -o $${spec%.ini}.csv || exit 1; done

# Into plots/out/; what a figure shows stands in the README beside its script.
figures: gsim
	for script in experiments/*/figures.sh; do sh $$script ./gsim plots/out || exit 1; done

# The man page, and the tables of a database in docs/sweeps.md.
man: gsim
	./gsim man >man/gsim.1
	sh tools/tables.sh ./gsim >build/sweeps.md
	cp build/sweeps.md docs/sweeps.md

# Whatever a page shows of the program, but for the README.
docs: man docs-reference docs-pages docs-python docs-figures

# The pages that are made from the program's lists.
REFERENCE = columns results devices parameters policies
docs-reference: gsim
	mkdir -p docs/reference
	for kind in $(REFERENCE); do ./gsim list $$kind --format md >build/$$kind.md && \
	    cp build/$$kind.md docs/reference/$$kind.md || exit 1; done

# What pages show of gsim: outputs of their commands, and tables of gsim validate.
SHOWING  = docs/first-hour.md docs/one-gpu.md docs/capacity.md docs/questions.md docs/embedding.md docs/own-policy.md $(wildcard docs/models/*.md)
docs-pages: gsim $(ARCHIVES)
	sh tools/pages.sh ./gsim build $(SHOWING)
	sh tools/policy_of_page.sh $(BUILD) build/policy_of_page
	sh tools/pages.sh build/policy_of_page/gsim build docs/writing-a-policy.md
	for page in $(SHOWING) docs/writing-a-policy.md; do cp build/$$page $$page || exit 1; done
docs-python: python
	rm -rf build/python-page && mkdir -p build/python-page/traces && cp -r traces/samples build/python-page/traces
	PYTHONPATH=$(CURDIR)/python $(PYTHON) tools/python_page.py docs/python.md build/python-page >build/python.md
	cp build/python.md docs/python.md
docs-figures: gsim
	sh docs/figures/draw.sh ./gsim docs/figures
	sh docs/figures/demo.sh ./gsim docs/figures

# What the README shows of gsim, from the program: readme its first screen, validate-readme the table.
readme: gsim
	sh tools/readme.sh ./gsim demo >build/README.md
	cp build/README.md README.md
validate-readme: gsim
	sh tools/readme.sh ./gsim validate >build/README.md
	cp build/README.md README.md

# One header for what policies share, and of the library only the names that the headers have.
HEADERS = $(wildcard include/gsim/*.h include/gsim/*.def)
$(BUILD)/installed/lib.h: tools/lib_header.sh sim/base/index.h $(wildcard policies/lib/*.h)
	@mkdir -p $(@D)
	sh tools/lib_header.sh >$@
$(BUILD)/installed/names.list $(BUILD)/installed/names.map $(BUILD)/installed/names.dynamic: tools/public_names.sh $(BUILD)/installed/lib.h $(HEADERS)
	sh tools/public_names.sh $(subst .,,$(suffix $@)) $(BUILD)/installed/lib.h $(HEADERS) >$@
$(BUILD)/installed/libgsim.a: tools/public_library.sh $(BUILD)/libgsim.a $(BUILD)/installed/names.list
	sh tools/public_library.sh $(BUILD)/libgsim.a $@ $(BUILD)/installed/names.list
# What a job links that cooperates with `gsim drive`; plain code, for programs of any compiler.
JOB_FILES = sim/job/gsim_job.h sim/job/gsim_job.c sim/job/gsim_job.py
$(BUILD)/installed/libgsim_job.a: sim/job/gsim_job.c sim/job/gsim_job.h
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 $(HARDEN) -fPIC $(WARN) -ffile-prefix-map=$(CURDIR)=. -c -o $(@D)/gsim_job.o $<
	rm -f $@ && $(AR) rcD $@ $(@D)/gsim_job.o
install: $(BUILD)/gsim $(BUILD)/installed/libgsim.a $(BUILD)/libgsim.so $(BUILD)/installed/libgsim_job.a
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/include/gsim
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(BUILD)/gsim $(DESTDIR)$(PREFIX)/bin/gsim
	install -m 644 $(BUILD)/installed/libgsim.a $(DESTDIR)$(PREFIX)/lib/libgsim.a
	install -m 755 $(BUILD)/libgsim.so $(DESTDIR)$(PREFIX)/lib/libgsim.so.$(ABI)
	ln -sf libgsim.so.$(ABI) $(DESTDIR)$(PREFIX)/lib/libgsim.so
	install -m 644 man/gsim.1 $(DESTDIR)$(PREFIX)/share/man/man1/gsim.1
	$(BUILD)/gsim completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/gsim
	$(BUILD)/gsim completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_gsim
	$(BUILD)/gsim completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/gsim.fish
	install -m 644 $(HEADERS) $(BUILD)/installed/lib.h $(DESTDIR)$(PREFIX)/include/gsim
	install -d $(DESTDIR)$(PREFIX)/share/gsim/job
	install -m 644 $(JOB_FILES) $(DESTDIR)$(PREFIX)/share/gsim/job
	install -m 644 $(BUILD)/installed/libgsim_job.a $(DESTDIR)$(PREFIX)/lib/libgsim_job.a
	for pc in gsim gsim-job; do \
		sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' tools/$$pc.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/$$pc.pc || exit 1; \
	done

# --- Python -------------------------------------------------------------------------------------
# The package in python/gsim, with the whole program as its module _gsim: the numbers are the program's.
# The module shows the names of the installed headers, for policies that are shared objects. A python3
# of Debian comes first, since that is what python3-dev is for.
PYTHON   = $(firstword $(wildcard /usr/bin/python3) python3)
PY_SRC   = $(wildcard python/src/*.c)
PY_OBJ   = $(PY_SRC:%.c=$(BUILD)/%.o)
PY_OF    = $$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_$(1))')
# A process that has the old module loaded keeps it: the new one is a new file.
python: $(BUILD)/python/_gsim.so
	@to=python/gsim/_gsim$(call PY_OF,config_var("EXT_SUFFIX")); \
	cmp -s $< $$to || { cp $< $$to.part && mv $$to.part $$to; }
$(PY_OBJ): CPPFLAGS += -isystem $(call PY_OF,path("include"))
$(BUILD)/python/names.map: $(BUILD)/installed/names.map
	@mkdir -p $(@D)
	sed 's/global:/global: PyInit__gsim;/' $< >$@
$(BUILD)/python/_gsim.so: $(PY_OBJ) $(ARCHIVES) $(BUILD)/python/names.map
	$(CC) $(CODEGEN) -fno-lto -shared $(SEALED) -Wl,--version-script=$(BUILD)/python/names.map -o $@ $(PY_OBJ) $(BUILD)/libapp.a \
	    -Wl,--whole-archive $(BUILD)/libgsim.a -Wl,--no-whole-archive $(LIBS)

# Debian packages, in build/deb: gsim, libgsim-dev, python3-gsim.
deb: $(BUILD)/gsim python
	@PYTHON="$(PYTHON)" sh tools/deb.sh build/deb
# They are installed and used in a bare system (root, mmdebstrap and a mirror are needed); and the
# packages of two clones in folders of different names are compared byte for byte.
deb-check: deb
	sh tools/deb_test.sh build/deb
	sh tools/reproducible.sh build/deb

# BASE=COMMIT: beside gsim of that commit, which is built in a folder of its own; MOST, the jobs of the
# largest row (100000, 1000000 or 10000000).
MOST   = 10000000
bench: gsim $(BUILD)/tests/bench/bench
	@$(if $(BASE),sh tools/bench_base.sh $(BUILD)/tests/bench/bench ./gsim '$(BASE)' '$(MOST)',$(BUILD)/tests/bench/bench ./gsim)
# What a job costs, by size: make bench-sizes POLICIES='las gandiva' GPUS=64 LOADS='0.95 3' SIZES='1000 4000'
DEVICE = ideal
SIZES  = 1000 10000 100000
GPUS   = 8 1024 100000
LOADS  = 0.7 0.95 1.1 3
bench-sizes: gsim $(BUILD)/tests/bench/sizes
	@$(BUILD)/tests/bench/sizes ./gsim $(DEVICE) '$(SIZES)' '$(GPUS)' '$(LOADS)' $(POLICIES)

format:
	clang-format -i $$(git ls-files '*.c' '*.h')
tidy:
	clang-tidy --quiet $$(git ls-files '*.c' | grep -v '^tests/') -- -std=c11 -I.
# All analysers: some six minutes of processor time (tests/rules/analysers.txt has the reasons).
analyse:
	@CASES=all sh tests/rules/analyse.sh
clean:
	rm -rf build gsim libgsim.a libgsim.so python/gsim/_gsim.*.so*
help:
	@echo 'make            build ./gsim'
	@echo 'make SHARED=1   build ./gsim with shared libraries alone, not with the archives that there are'
	@echo 'make libgsim.a  build ./libgsim.a, for programs that link the library'
	@echo 'make libgsim.so build ./libgsim.so, for programs that load the library'
	@echo 'make release    build ./gsim by the counts of a training run: a tenth faster, equal results'
	@echo 'make demo       install what is missing, build, compare policies on a sample trace'
	@echo 'make check      install what is missing, build with -Werror, run every test'
	@echo 'make check TIMES=1  as well, with where processor time went'
	@echo 'make bench      timings, as ratios; BASE=COMMIT: to those of that commit'
	@echo 'make bench-sizes  what a job costs by policy, GPUs, load and number of jobs'
	@echo 'make fuzz       looks for inputs that break it, for FUZZ_S=300 seconds; PARTS=all: that break a reader, SAN=1: with sanitizers'
	@echo 'make fuzz-runs  random runs under the laws of any run, N=2000 of each of two kinds'
	@echo 'make figures    every figure of experiments/, into plots/out/'
	@echo 'make python     the Python package, in python/gsim (PYTHON=python3)'
	@echo 'make deb        Debian packages, in build/deb'
	@echo 'make deb-check  installs and uses them in a bare system; builds them again elsewhere, compares'
	@echo 'make install    PREFIX=/usr/local DESTDIR='
	@echo 'make docs       man page, references, outputs in pages, figures of pages'
	@echo 'make analyse    cppcheck and the analyser of gcc; cppcheck runs in make check too'
	@echo 'make golden-update samples readme validate-readme format tidy clean'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
