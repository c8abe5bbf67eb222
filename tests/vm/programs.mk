# SPDX-License-Identifier: GPL-2.0-or-later
# The programs that run in guests.  Every source is compiled once for all of them,
# and again only when it, a header of its, or this file has changed.  TOP is the tree,
# OUT where all of this is built: see tests/vm/programs and what calls it.
#
# -MT: ccache gives the compiler relative names, and a rule for a relative name is none for
# the object.

src := $(TOP)/tests/vm/suite

flags := -std=gnu11 -O2 -g -Wall -Wextra -Werror -pthread -D_GNU_SOURCE
# The library's rooms first: the module has folders of the same names.
includes := -I$(TOP)/libcmt -I$(TOP)/libcmt/include -I$(OUT)/include
includes += -I$(TOP)/module -I$(TOP)/tools
link = gcc -static -pthread $(1) -o $@
says = @mkdir -p $(@D) && echo "$(patsubst $(OUT)/%,%,$@)"

# objects KIND,SOURCES
objects = $(patsubst $(TOP)/%.c,$(OUT)/$(1)/%.o,$(2))
# what the guest suite has beside its tests, for every program that is made of it
base := $(addprefix $(src)/,util.c dev.c control.c history.c debug.c)
kernel := $(filter-out $(src)/lib.c,$(wildcard $(src)/*.c))
through_lib := $(filter-out $(src)/main.c,$(base)) $(src)/lib.c
libcmt := $(filter-out $(TOP)/libcmt/python/%,$(wildcard $(TOP)/libcmt/*/*.c))
common := $(wildcard $(TOP)/tools/common/*.c)
suspend := $(TOP)/tests/lab/suspend.c
storm := $(wildcard $(TOP)/tests/storm/*.c) $(suspend)
guestfuzz := $(storm) $(wildcard $(TOP)/tests/guestfuzz/*.c)
tools := cmtctl cmtstat
main := tests/vm/suite/main

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all
all: $(addprefix $(OUT)/,suite suite32 suite-next suite-lib suite-lib-next walk lab-on lab-kexec $(tools))

# A kind is a way to compile: the programs as they are, for i386, with the next
# version of uapi/cmt.h.
define kind
$(OUT)/$(1)/%.o: $(TOP)/%.c $(TOP)/tests/vm/programs.mk $(3)
	$$(says)
	gcc $(2) $(flags) $$(includes) -MMD -MP -MT $$@ -c $$< -o $$@
# the suite's main() with another table of tests
$(OUT)/$(1)/$(main)-%.o: $(TOP)/$(main).c $(TOP)/tests/vm/programs.mk $(3)
	$$(says)
	gcc $(2) $(flags) $(includes) -DCMT_SUITE_LIB -Dlib_tests=$$*_tests -MMD -MP -MT $$@ \
		-c $$< -o $$@
endef
next_header := $(OUT)/next-header/uapi/cmt.h
$(eval $(call kind,now,,))
$(eval $(call kind,m32,-m32,))
$(eval $(call kind,next,-I$(OUT)/next-header,| $(next_header)))

$(next_header): $(TOP)/module/uapi/cmt.h $(TOP)/tests/abi/next
	$(TOP)/tests/abi/next header $(OUT)/next-header

$(OUT)/suite: $(call objects,now,$(kernel))
	$(call link,$^)
$(OUT)/suite32: $(call objects,m32,$(kernel))
	$(call link,-m32 $^)
$(OUT)/suite-next: $(call objects,next,$(kernel))
	$(call link,$^)
$(OUT)/suite-lib: $(OUT)/now/$(main)-lib.o $(call objects,now,$(through_lib) $(libcmt))
	$(call link,$^ -ljson-c -lzstd)
$(OUT)/suite-lib-next: $(OUT)/next/$(main)-lib.o $(call objects,next,$(through_lib) $(libcmt))
	$(call link,$^ -ljson-c -lzstd)
$(OUT)/storm: $(OUT)/now/$(main)-storm.o $(call objects,now,$(base) $(storm))
	$(call link,$^)
$(OUT)/guestfuzz: $(OUT)/now/$(main)-guestfuzz.o $(call objects,now,$(base) $(guestfuzz))
	$(call link,$^)
$(OUT)/beside: $(OUT)/now/$(main)-beside.o $(call objects,now,$(wildcard $(TOP)/tests/beside/*.c)) \
		$(OUT)/lab.a
	$(call link,$^ -ljson-c -lzstd -lm)
$(OUT)/walk: $(call objects,now,$(TOP)/tests/vm/walk.c)
	$(call link,$^)
$(OUT)/ring-reader: $(TOP)/docs/examples/ring-reader/main.go
	$(says)
	CGO_ENABLED=0 GO111MODULE=off GOCACHE=$(OUT)/go-cache go build -trimpath -o $@ $<
$(OUT)/lab-on: $(call objects,now,$(TOP)/tests/lab/on.c)
	$(call link,$^)
$(OUT)/lab-kexec: $(call objects,now,$(TOP)/tests/lab/kexec.c)
	$(call link,$^)

# The rooms of tools/ROOMS that cmtstat is of, beside its own; of report what is in each page, too.
rooms := session board recorder command report export watch table why frame config replay
report := $(TOP)/tools/report
cmtstat_objects := $(call objects,now,$(wildcard $(rooms:%=$(TOP)/tools/%/*.c))) \
	$(OUT)/now/tools/report/assets.o
$(OUT)/report/assets.c: $(report)/embed.sh $(wildcard $(report)/web/* $(report)/third-party/uplot/*)
	@mkdir -p $(@D)
	$(report)/embed.sh $@
$(OUT)/now/tools/report/assets.o: $(OUT)/report/assets.c
	$(says)
	gcc $(flags) $(includes) -MMD -MP -MT $@ -c $< -o $@

define tool
$(OUT)/$(1): $(call objects,now,$(wildcard $(TOP)/tools/$(1)/*.c) $(common) $(libcmt)) $($(1)_objects)
	$$(call link,$$^ -ljson-c -lzstd -lcap -lseccomp -lncursesw -ltinfo -lz -lm)
endef
$(foreach t,$(tools),$(eval $(call tool,$(t))))

# Of the lab's tests one table each: of the archive comes what that one needs.
$(OUT)/lab.a: $(call objects,now,$(filter-out $(src)/main.c,$(kernel)) \
		$(wildcard $(TOP)/tests/lab/suite/*.c) $(suspend) $(libcmt))
	rm -f $@
	ar rcs $@ $^
$(OUT)/lab-of-%: $(OUT)/now/$(main)-%.o $(OUT)/lab.a
	$(call link,$^ -ljson-c -lzstd)

-include $(shell [ ! -d $(OUT) ] || find $(OUT) -name '*.d')
