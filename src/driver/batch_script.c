/* The text of a job's script. Bash, since it has to answer signals while its
 * child runs. */
#include <ctype.h>
#include <string.h>

#include "driver/batch.h"
#include "driver/commands.h"

/* As a word of a shell: in quotes where it needs them. */
static void word(FILE *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%";
    if (text[0] != '\0' && strspn(text, plain) == strlen(text)) {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    fputc('\'', out);
}

/* Names that Slurm shows, and files: nothing that would be read as more. */
static void plain_name(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        fputc(isalnum((unsigned char)*c) || strchr("_-+=.", *c) != NULL ? *c
                                                                        : '_',
              out);
}

static void header(FILE *out, const struct batch *b)
{
    fputs("#!/bin/bash\n# Made by: warpdeck", out);
    for (int i = 1; i < b->line->argc; i++) {
        fputc(' ', out);
        word(out, b->line->argv[i]);
    }
    fputs("\n#SBATCH --job-name=", out);
    plain_name(out, b->name);
    if (b->nodes > 0)
        fprintf(out, "\n#SBATCH --nodes=%ld", b->nodes);
    fprintf(out, "\n#SBATCH --ntasks=%ld", b->ranks);
    if (b->gpus_per_node > 0)
        fprintf(out,
                "\n#SBATCH --ntasks-per-node=%ld"
                "\n#SBATCH --gpus-per-node=%ld",
                b->ranks / b->nodes, b->gpus_per_node);
    if (b->threads > 1)
        fprintf(out, "\n#SBATCH --cpus-per-task=%ld", b->threads);
    if (b->time != NULL)
        fprintf(out, "\n#SBATCH --time=%s\n#SBATCH --signal=B:USR1@%d", b->time,
                batch_ahead(b->seconds));
    fprintf(out, "\n#SBATCH --%s", b->requeue ? "requeue" : "no-requeue");
    fputs("\n#SBATCH --open-mode=append\n#SBATCH --output=", out);
    plain_name(out, b->name);
    fputs(b->key != NULL ? ".%A_%a.out\n" : ".%j.out\n", out);
    if (b->key != NULL)
        fprintf(out, "#SBATCH --array=0-%d\n", b->n_values - 1);
}

/* A member's folder: its number keeps two values apart that look the same as
 * names. */
static void members(FILE *out, const struct batch *b)
{
    const char *dot = strrchr(b->key, '.');
    const char *key = dot != NULL ? dot + 1 : b->key;
    fputs("\ncase $SLURM_ARRAY_TASK_ID in\n", out);
    for (int i = 0; i < b->n_values; i++) {
        char name[160];
        snprintf(name, sizeof(name), "%d_%s=%s", i, key, b->values[i]);
        for (char *c = name; *c != '\0'; c++)
            if (!isalnum((unsigned char)*c) && strchr("_-+=.", *c) == NULL)
                *c = '_';
        fprintf(out, "%d)\n    out=$out/", i);
        word(out, name);
        fputs("\n    member=(", out);
        char *text = b->values[i];
        word(out, b->key);
        fputc('=', out);
        word(out, text);
        fputs(") ;;\n", out);
    }
    fputs("*)\n"
          "    echo \"this script is for sbatch, as an array\" >&2\n"
          "    exit 2 ;;\n"
          "esac\n",
          out);
}

static void settings(FILE *out, const struct batch *b)
{
    const struct command_line *line = b->line;
    fputs("\n# What may be set from outside, as in\n"
          "#   WARPDECK=$HOME/bin/warpdeck WARPDECK_LAUNCH=mpirun sbatch ...\n"
          "warpdeck=${WARPDECK:-warpdeck}\n"
          "launch=${WARPDECK_LAUNCH:-",
          out);
    fputs(b->launch, out);
    fputs("}\n"
          "deck=",
          out);
    word(out, line->arguments[0]);
    fputs("\nname=", out);
    word(out, b->name);
    fputs("\nout=", out);
    word(out, b->folder);
    fputs("\nkeys=(", out);
    for (int i = 0; i < line->n_overrides; i++) {
        if (i > 0)
            fputc(' ', out);
        word(out, line->overrides[i]);
    }
    fputs(")\nmember=()\n", out);
    if (line->option[OPTION_DEVICE] != NULL)
        fprintf(out, "keys+=(--device %s)\n", line->option[OPTION_DEVICE]);
    fprintf(out,
            "export OMP_NUM_THREADS=%ld SRUN_CPUS_PER_TASK=%ld\n"
            "# A cluster's modules are loaded here, where the login shell's "
            "are not passed on.\n",
            b->threads, b->threads);
}

/* wait returns when a signal comes; it has to be called again then. Only one
 * signal is passed on, since a second one would end the run at once; the file
 * serves where the signal is lost, as before the ranks are there. */
static const char running[] =
    "\n"
    "asked=0\n"
    "ask() {\n"
    "    asked=$((asked + 1))\n"
    "    touch \"$out/STOP\"\n"
    "    [ \"$asked\" -gt 1 ] || kill -USR1 \"$run\" 2>/dev/null\n"
    "}\n"
    "trap ask USR1 TERM\n"
    "\n"
    "mkdir -p \"$out\" || exit 1\n"
    "saved() { stat -c '%n %y' \"$out/$name\".ckpt.*.h5 2>/dev/null; }\n"
    "before=$(saved)\n"
    "# shellcheck disable=SC2086\n"
    "$launch \"$warpdeck\" run \"$deck\" \"${keys[@]}\" \"${member[@]}\" "
    "--output \"$out\" --resume auto &\n"
    "run=$!\n"
    "while :; do\n"
    "    seen=$asked\n"
    "    wait \"$run\"\n"
    "    status=$?\n"
    "    [ \"$asked\" -ne \"$seen\" ] || break\n"
    "done\n"
    "rm -f \"$out/STOP\"\n";

/* A run that stops without having come on would do so for ever. For the job's
 * number: the last of an array's jobs has that of the whole array. */
static const char requeueing[] =
    "\n"
    "# 75: stopped in time, with a checkpoint. The job goes on later, unless "
    "somebody\n"
    "# made a file STOP, or nothing was computed.\n"
    "if [ \"$status\" -eq 75 ] && [ \"$(saved)\" != \"$before\" ]; then\n"
    "    if [ \"$asked\" -eq 0 ] && tail -n 4 \"$out/$name.log\" |\n"
    "        grep -qF '(file STOP)'; then\n"
    "        exit 75\n"
    "    fi\n"
    "    job=$SLURM_JOB_ID\n"
    "    [ -z \"$SLURM_ARRAY_TASK_ID\" ] ||\n"
    "        job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\n"
    "    scontrol requeue \"$job\"\n"
    "fi\n";

void batch_script(FILE *out, const struct batch *b)
{
    header(out, b);
    settings(out, b);
    if (b->key != NULL)
        members(out, b);
    fputs(running, out);
    if (b->requeue)
        fputs(requeueing, out);
    fputs("exit \"$status\"\n", out);
}
