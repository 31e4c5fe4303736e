# gsim: builds ./gsim and ./libgsim.a; `make help` lists what else there is.
# Nothing here runs a compiler or pkg-config while the file is parsed: `make demo` and
# `make check` must work on a machine that has only git and make.
CC       = gcc
OPT      = -O2
PREFIX   = /usr/local
VARIANT  = $(notdir $(CC))$(subst $(empty) ,,$(OPT))$(if $(SAN),-san)
BUILD    = build/$(VARIANT)

WARN     = -Wall -Wextra -Wpedantic -Wconversion -Wshadow $(if $(WERROR),-Werror)
SANITIZE = $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
comma    = ,
CFLAGS   = -std=c11 $(OPT) -g $(WARN) -ffp-contract=off $(SANITIZE)
CPPFLAGS = -I.
LIBS     = -linih -lcsv -lsqlite3 -lz -lzstd -lnettle -lgsl -lgslcblas -lm -lpthread

LIB_SRC  = $(filter-out sim/app/main.c,$(wildcard sim/base/*.c sim/core/*.c models/*.c traces/*.c policies/*.c sim/app/*.c))
LIB_OBJ  = $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/embedded.o
EMBEDDED = $(sort $(wildcard models/devices/*.ini))
VERSION  = 0.1.0

.PHONY: all lib demo check bench golden-update samples man install clean help format tidy suites
all: gsim

# The default variant's results stand at the root; other variants stay below build/.
gsim: $(BUILD)/gsim $(BUILD)/libgsim.a
	@cp -f $(BUILD)/libgsim.a libgsim.a
	@cp -f $(BUILD)/gsim gsim

$(BUILD)/gsim: $(BUILD)/sim/app/main.o $(BUILD)/libgsim.a
	$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libgsim.a: $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/embedded.o: build/embedded.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CPPFLAGS) -c -o $@ $<

build/embedded.c: tools/embed.sh $(EMBEDDED)
	@mkdir -p $(@D)
	sh tools/embed.sh $@ $(EMBEDDED)

# --- tests ---------------------------------------------------------------------------------------
TEST_SRC = $(wildcard tests/unit/*.c tests/property/*.c tests/analytic/*.c tests/reference/*.c)
TESTS    = $(TEST_SRC:%.c=$(BUILD)/%)
SKELETON_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/skeletons/*.c))

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(BUILD)/tests/support/runner.o $(BUILD)/libgsim.a
	$(CC) $(CFLAGS) -o $@ $^ -lcmocka $(LIBS)

suites: $(BUILD)/gsim $(TESTS) $(SKELETON_OBJ)

-include $(shell find build -name '*.d' 2>/dev/null)
