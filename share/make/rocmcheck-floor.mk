# Device code never below -O1 unless the user says so. Include it after HIPCXX and HIPFLAGS are set:
#
#   HIPCXX ?= clang++
#   include rocmcheck-floor.mk
#   %.o: %.hip
#   	$(HIPCXX) $(HIPFLAGS) -c $< -o $@
#
# The floor goes in front, so that any -O that follows wins, also an explicit -O0. clang++ and amdclang++
# mean -O0 when nothing is said; hipcc adds -O3, but keeps it back as soon as any word starts with -O, be
# it -Xarch_host -O3: its floor is that -O3, said aloud.
rocmcheck_floor := $(if $(findstring hipcc,$(notdir $(HIPCXX))),-O3,-O1)
override HIPFLAGS := $(rocmcheck_floor) $(HIPFLAGS)
