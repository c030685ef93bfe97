#include "driver/commands.h"

#include <string.h>

#define BIT(name) (1u << OPTION_##name)

const struct option options[OPTION_COUNT] = {
    [OPTION_OUTPUT] = {"output", 'o', "DIR",
                       "folder for the results; made where missing (default: "
                       "the current one)"},
    [OPTION_OVERWRITE] = {"overwrite", 0, NULL,
                          "replace results of the same name"},
    [OPTION_RESUME] = {"resume", 0, "FILE",
                       "go on from a checkpoint; auto: from the newest good "
                       "one of this run, or from the beginning where there is "
                       "none; of another name or folder: with results of its "
                       "own"},
    [OPTION_FORCE] = {"force", 0, NULL,
                      "go on from a checkpoint of another deck, or of "
                      "files that have changed"},
    [OPTION_WALL_TIME] = {"wall-time", 0, "H:M:S",
                          "stop in time before so much has passed, with a "
                          "checkpoint (default: what Slurm says)"},
    [OPTION_DEVICE] = {"device", 0, "auto|cpu|cuda",
                       "where the loops run (default: [run] device)"},
    [OPTION_RANKS] = {"ranks", 'n', "N",
                      "plan for N ranks instead of those there are"},
    [OPTION_MEASURE] = {"measure", 0, "SECONDS",
                        "make real steps for about so long, to tell the time "
                        "of the run; 0: none (default: 1)"},
    [OPTION_GPUS] = {"gpus-per-node", 0, "N",
                     "GPUs of each node, with one rank to a GPU (default: "
                     "none)"},
    [OPTION_TIME] = {"time", 't', "LIMIT",
                     "time limit of the job, as Slurm writes it: 04:00:00, "
                     "1-12:00:00 (default: the cluster's)"},
    [OPTION_ARRAY] = {"array", 0, "KEY=V1,V2,...",
                      "a job for each value of a key of the deck, e.g. "
                      "md.ensemble.temperature=0.7,0.8"},
    [OPTION_LAUNCH] = {"launch", 0, "COMMAND",
                       "what starts the ranks (default: srun), e.g. "
                       "'srun --mpi=pmix' or mpirun"},
    [OPTION_NO_REQUEUE] = {"no-requeue", 0, NULL,
                           "leave it to you to submit again a job that was "
                           "stopped"},
    [OPTION_SIZES] = {"sizes", 0, "LIST",
                      "sizes to measure, e.g. 32k,256k,1M (default: all)"},
    [OPTION_STEPS] = {"steps", 0, "N",
                      "steps to measure at each size (default: the solver's)"},
    [OPTION_PRECISION] = {"precision", 0, "double|mixed|single",
                          "precision to measure (default: double)"},
    [OPTION_REBUILD_EVERY] = {"rebuild-every", 0, "N",
                              "rebuild the neighbor list every N steps without "
                              "a check, as LAMMPS's own benchmark does "
                              "(default: 0, when a particle has moved too "
                              "far)"},
    [OPTION_ALL] = {"all", 0, NULL,
                    "every key that there is, with its default as a comment"},
    [OPTION_QUIET] = {"quiet", 'q', NULL, "print only warnings and errors"},
    [OPTION_VERBOSE] = {"verbose", 'v', NULL, "print more"},
    [OPTION_HELP] = {"help", 'h', NULL, "show help and leave"},
    [OPTION_VERSION] = {"version", 'V', NULL, "show the version and leave"},
};

const struct command commands[] = {
    {.name = "run",
     .synopsis = "DECK [section.key=value ...]",
     .help = "run the simulation a deck describes",
     .details =
         "Reads the deck, checks it whole, and runs it on all ranks. Results "
         "go to NAME.h5, the table on the screen also to NAME.log; NAME is "
         "[output] name or the deck's file name.\n"
         "\n"
         "A key of the deck is set from the command line by its full name, "
         "e.g. md.steps=1000 or md.pair.cutoff=3; it goes through the same "
         "checks.\n"
         "\n"
         "SIGTERM, SIGINT, SIGUSR1, SIGUSR2, or a file named STOP in the "
         "output folder end the run at the next step with a checkpoint, and "
         "exit status 75. A second signal ends it at once. mpirun passes "
         "SIGUSR1 and SIGUSR2 on to all ranks; at SIGTERM it gives them one "
         "second. Before the time of --wall-time, or else of "
         "SLURM_JOB_END_TIME, the run stops by itself.\n"
         "\n"
         "The same command with --resume auto goes on where a run was stopped "
         "or died; on as many ranks, in double precision, bit by bit as if it "
         "had not been. The deck may ask for more steps and other output.",
     .arguments_min = 1,
     .arguments_max = 1,
     .flags = COMMAND_RANKS | COMMAND_OVERRIDES | COMMAND_STOPS,
     .options = BIT(OUTPUT) | BIT(OVERWRITE) | BIT(RESUME) | BIT(FORCE) |
                BIT(WALL_TIME) | BIT(DEVICE) | BIT(QUIET) | BIT(VERBOSE),
     .run = cmd_run},
    {.name = "check",
     .synopsis = "DECK [section.key=value ...]",
     .help = "check a deck and show what its run would need",
     .details = "Finds every error in the deck, then prints the plan: "
                "particles, box, decomposition, memory of a rank and of the "
                "device, volume of the output and of checkpoints, and the "
                "time, from a few real steps on the ranks that are there; "
                "warns where a rank would have too little to do. Nothing is "
                "written.",
     .arguments_min = 1,
     .arguments_max = 1,
     .flags = COMMAND_RANKS | COMMAND_OVERRIDES,
     .options = BIT(RANKS) | BIT(MEASURE) | BIT(VERBOSE),
     .run = cmd_check},
    {.name = "batch",
     .synopsis = "DECK [section.key=value ...]",
     .help = "print a script for Slurm that runs a deck",
     .details =
         "Checks the deck and prints a job's script:\n"
         "\n"
         "    warpdeck batch DECK --ranks 8 --time 04:00:00 > job.sh\n"
         "    sbatch job.sh\n"
         "\n"
         "Some minutes before its time limit the job is signalled; the run "
         "saves its state and ends with status 75, the job is queued again, "
         "and goes on from there, as often as it takes. So it does after a "
         "node has failed or the job was preempted. A file STOP in the "
         "output folder ends it for good.\n"
         "\n"
         "With --array there is a job for each value, with a folder of its "
         "own in that of --output (default: the deck's name); warpdeck-post "
         "gather makes a table of all.",
     .arguments_min = 1,
     .arguments_max = 1,
     .flags = COMMAND_OVERRIDES,
     .options = BIT(OUTPUT) | BIT(DEVICE) | BIT(RANKS) | BIT(GPUS) | BIT(TIME) |
                BIT(ARRAY) | BIT(LAUNCH) | BIT(NO_REQUEUE),
     .run = cmd_batch},
    {.name = "explain",
     .synopsis = "[SOLVER[.SECTION[.KEY]]]",
     .help = "explain the keys of decks",
     .details = "Every key with its type, unit, default, range and meaning, "
                "from the same tables that check decks. Without a name, the "
                "solvers and the sections they have.",
     .arguments_min = 0,
     .arguments_max = 1,
     .run = cmd_explain},
    {.name = "new",
     .synopsis = "SOLVER",
     .help = "print a commented deck to start from",
     .details = "Prints a short deck that runs as it stands, and names what "
                "else there is; with --all it shows that, too.\n"
                "\n"
                "    warpdeck new md > first.toml\n"
                "    warpdeck run first.toml",
     .arguments_min = 1,
     .arguments_max = 1,
     .options = BIT(ALL),
     .run = cmd_new},
    {.name = "info",
     .synopsis = "",
     .help = "show version, build, libraries, devices and machine",
     .details = "What this program was built with and what it finds on this "
                "machine. With --verbose the machine's limits are measured "
                "too: memory bandwidth (STREAM triad) and the peak of fused "
                "multiply-adds. Put its output into a bug report.",
     .arguments_min = 0,
     .arguments_max = 0,
     .flags = COMMAND_RANKS,
     .options = BIT(VERBOSE),
     .run = cmd_info},
    {.name = "bench",
     .synopsis = "[SOLVER|io] [section.key=value ...]",
     .help = "measure the standard problem of a solver on this machine",
     .details = "Runs the solver's standard problem at several sizes, without "
                "output files, and prints the time of each phase and the rate "
                "(median and best over blocks of steps) beside the machine's "
                "own measured limits. Without a solver, the first one.\n"
                "\n"
                "io in place of a solver measures output: particles and a flow "
                "run without it, waiting for it, and with a helper thread that "
                "writes it (output.staging). The share of the time that is "
                "lost, and GB/s, are of the file system of --output (default: "
                "the current folder), in a folder that is removed again.",
     .arguments_min = 0,
     .arguments_max = 1,
     .flags = COMMAND_RANKS | COMMAND_OVERRIDES | COMMAND_STOPS,
     .options = BIT(SIZES) | BIT(STEPS) | BIT(PRECISION) | BIT(REBUILD_EVERY) |
                BIT(DEVICE) | BIT(OUTPUT),
     .run = cmd_bench},
    {.name = "help",
     .synopsis = "[COMMAND]",
     .help = "show help for the program or a command",
     .details = "The same as warpdeck COMMAND --help.",
     .arguments_min = 0,
     .arguments_max = 1,
     .run = cmd_help},
    {.name = "docs",
     .synopsis = "man|completion",
     .help = "print the man page or the bash completion",
     .details = "Used when Warpdeck is built: both are made from the tables "
                "that --help shows.",
     .arguments_min = 1,
     .arguments_max = 1,
     .flags = COMMAND_HIDDEN,
     .run = cmd_docs},
    {0},
};

const struct command *command_find(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}
