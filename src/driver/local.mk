# src/driver: all but main.c is in the library, so that tests can call it.
libwarpdeck_a_SOURCES += \
	src/driver/abreast.c \
	src/driver/abreast.h \
	src/driver/banner.c \
	src/driver/banner.h \
	src/driver/check_time.c \
	src/driver/check_time.h \
	src/driver/batch.h \
	src/driver/batch_script.c \
	src/driver/closing.c \
	src/driver/clock.c \
	src/driver/clock.h \
	src/driver/cmd_batch.c \
	src/driver/bench.h \
	src/driver/cmd_bench.c \
	src/driver/cmd_bench_io.c \
	src/driver/cmd_check.c \
	src/driver/cmd_docs.c \
	src/driver/cmd_explain.c \
	src/driver/cmd_info.c \
	src/driver/cmd_new.c \
	src/driver/commands.c \
	src/driver/commands.h \
	src/driver/driver_params.c \
	src/driver/driver_params.h \
	src/driver/exchange.c \
	src/driver/exchange.h \
	src/driver/exchange_tables.c \
	src/driver/guard.c \
	src/driver/guard.h \
	src/driver/help.c \
	src/driver/job.c \
	src/driver/job.h \
	src/driver/lock.c \
	src/driver/lock.h \
	src/driver/member.c \
	src/driver/member.h \
	src/driver/monitor.c \
	src/driver/monitor.h \
	src/driver/options.c \
	src/driver/options.h \
	src/driver/output.c \
	src/driver/output.h \
	src/driver/parts.c \
	src/driver/parts.h \
	src/driver/parts_locate.c \
	src/driver/parts_locate.h \
	src/driver/parts_plan.c \
	src/driver/phases.c \
	src/driver/phases.h \
	src/driver/provenance.c \
	src/driver/replicas.c \
	src/driver/replicas.h \
	src/driver/results.c \
	src/driver/results.h \
	src/driver/resume.c \
	src/driver/resume.h \
	src/driver/resume_deck.c \
	src/driver/run.c \
	src/driver/run.h \
	src/driver/saves.c \
	src/driver/saves.h \
	src/driver/staging.c \
	src/driver/staging.h \
	src/driver/stop.c \
	src/driver/stop.h \
	src/driver/table.c \
	src/driver/table.h \
	src/driver/together.c \
	src/driver/together.h \
	src/driver/version.c \
	src/driver/version.h

bin_PROGRAMS += warpdeck
warpdeck_SOURCES = src/driver/main.c
warpdeck_LDADD = $(WARPDECK_LIBS)

# Also where somebody makes only the program.
src/driver/version.$(OBJEXT): src/build_info.h
