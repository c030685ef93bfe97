/* Particle files: the dialects that are read, and what is said of bad ones. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "md_case.h"
#include "reference_kernels.h"
#include "tests/tap.h"

static char folder[1024];

static int write_file(const char *text, size_t n)
{
    FILE *f = fopen("particles.xyz", "wb");
    if (!f)
        return -1;
    size_t written = fwrite(text, 1, n, f);
    return fclose(f) != 0 || written != n ? -1 : 0;
}

static int open_file(struct ctx *ctx, struct md_case *c, const char *text,
                     const char *domain)
{
    if (write_file(text, strlen(text)) != 0)
        return -1;
    return case_open(ctx, c, &md_kernels_reference,
                     "[run]\nsolver = \"md\"\n[md]\nsteps = 0\n[md.initial]\n"
                     "read = \"%s/particles.xyz\"\n[[md.species]]\n"
                     "name = \"Ar\"\n[[md.species]]\nname = \"Kr\"\n"
                     "[md.pair]\ncutoff = 3\n"
                     "[[md.pair.coefficients]]\nspecies = [\"Ar\", \"Ar\"]\n"
                     "epsilon = 1\nsigma = 1\n"
                     "[[md.pair.coefficients]]\nspecies = [\"Kr\", \"Kr\"]\n"
                     "epsilon = 1\nsigma = 1\n%s",
                     folder, domain);
}

/* Two particles, Ar at (1, 2, 3) and Kr at (9.5 - 10, 5, 5) wrapped. */
static void reads(struct ctx *ctx, const char *text, const char *domain,
                  int swapped, double vx, const char *what)
{
    struct md_case c;
    struct snapshot s = {0};
    int status = open_file(ctx, &c, text, domain), a = swapped, b = 1 - swapped;
    if (status == 0)
        status = case_snapshot(&c, &s);
    if (status != 0) {
        tap_ok(0, "%s", what);
        tap_note("%s", ctx->error.text);
    } else {
        int held = s.n == 2 && s.species[a] == 0 && s.species[b] == 1;
        held = held && fabs(s.position[a][0] - 1) < 1e-15 &&
               fabs(s.position[a][1] - 2) < 1e-15 &&
               fabs(s.position[a][2] - 3) < 1e-15;
        held = held && fabs(s.position[b][0] - 9.5) < 1e-14 &&
               s.image[b][0] == -1 && s.image[b][1] == 0;
        held = held && fabs(s.velocity[a][0] - vx) < 1e-15;
        held = held && fabs(c.md->box_length[2] - 12) < 1e-15;
        tap_ok(held, "%s", what);
    }
    snapshot_free(&s);
    case_close(&c);
}

static void check_dialects(struct ctx *ctx)
{
    const char *lattice = "Lattice=\"10 0 0 0 11 0 0 0 12\"";
    char text[512];
    snprintf(text, sizeof text,
             "2\n%s Properties=species:S:1:pos:R:3\n"
             "Ar 1 2 3\nKr -0.5 5 5\n",
             lattice);
    reads(ctx, text, "", 0, 0, "extended XYZ");
    snprintf(text, sizeof text, "2\n%s\nAr 1 2 3\nKr -0.5 5 5\n", lattice);
    reads(ctx, text, "", 0, 0, "extended XYZ without Properties");
    snprintf(text, sizeof text,
             "2\n%s pbc=\"T T T\" energy=-1.5 "
             "Properties=id:I:1:species:S:1:charge:R:1:pos:R:3:velo:R:3\n"
             "2 Ar 0.1 1 2 3 7 8 9\n1 Kr -0.1 -0.5 5 5 0 0 0\n",
             lattice);
    reads(ctx, text, "", 1, 7, "ids, velocities and an unknown column");
    snprintf(text, sizeof text,
             "\xEF\xBB\xBF"
             "2 \r\n%s\r\nAr\t1 2 3\r\n"
             "  Kr -0.5 5e0 +5.0\r\n\r\n",
             lattice);
    reads(ctx, text, "", 0, 0, "a byte order mark, CRLF, tabs, a blank end");
    reads(ctx, "2\n10 11 12\nAr 1 2 3\nKr -0.5 5 5", "", 0, 0,
          "plain XYZ with the box as its second line, no last newline");
    reads(ctx, "2\n7 10.0 11.0 12.0\n1 1 2 3 Ar\n2 -0.5 5 5 Kr\n", "", 0, 0,
          "numbered rows as of NIST's configurations");
    reads(ctx, "2\nwater, 10 ns\nAr 1 2 3\nKr -0.5 5 5\n",
          "[domain]\nsize = [10, 11, 12]\n", 0, 0,
          "plain XYZ with the box in the deck");
}

/* The file is refused with this text, in one of two statuses. */
static void refused(struct ctx *ctx, const char *text, const char *domain,
                    const char *said)
{
    struct md_case c;
    int status = open_file(ctx, &c, text, domain);
    int held = (status == STATUS_INPUT || status == STATUS_DECK) &&
               strstr(ctx->error.text, said) != NULL;
    tap_ok(held, "refused: %s", said);
    if (!held)
        tap_note("status %d: %s", status, ctx->error.text);
    case_close(&c);
}

#define BOX "Lattice=\"10 0 0 0 11 0 0 0 12\""

static void check_errors(struct ctx *ctx)
{
    refused(ctx, "", "", "particles.xyz:1:1: error: the file ends here");
    refused(ctx, "two\n", "", ":1:1: error: expected the number");
    refused(ctx, "-3\n\n", "", "error: expected the number");
    refused(ctx, "99999999999999999999\n\n", "", "error: expected the number");
    refused(ctx, "2 3\n\n", "", ":1:3: error: unexpected '3'");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\n", "", ":4:1: error: the file ends");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nKr 1 2\n", "",
            ":4:7: error: expected 4 columns, found 3");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nXe 1 2 5\n", "",
            ":4:1: error: unknown species 'Xe'; [[md.species]] declares: "
            "Ar, Kr");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nKr 1 2 nan\n", "",
            ":4:8: error: 'nan' is not a finite number");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nKr 1 2.5.1 3\n", "",
            ":4:6: error: '2.5.1' is not");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nKr 1 1e999 3\n", "",
            ":4:6: error: '1e999' is too large");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nKr 1 2 5 6\n", "",
            ":4:10: error: unexpected '6'");
    refused(ctx, "1\n" BOX "\nAr 1 2 3\nKr 1 2 5\n", "",
            ":4:1: error: text after the 1 particles");
    refused(ctx, "1\nLattice=\"10 1 0 3 11 0 0 0 12\"\nAr 1 2 3\n", "",
            "the first edge has to lie along x");
    refused(ctx, "1\nLattice=\"10 0 0 0 11 0 0 0\"\nAr 1 2 3\n", "",
            "expected nine numbers");
    refused(ctx, "1\nLattice=\"10 0 0 0 0 0 0 0 12\"\nAr 1 2 3\n", "",
            "the box is 0 long in y");
    refused(ctx, "1\nLattice=\"10 0 0 0 11 0 0 0 12\nAr 1 2 3\n", "",
            "a quote that is not closed");
    refused(ctx, "1\n" BOX " pbc=\"T T F\"\nAr 1 2 3\n", "",
            "only fully periodic");
    refused(ctx, "1\n" BOX " Properties=species:S:1:pos:R:2\nAr 1 2 3\n", "",
            "property 'pos' must be pos:R:3");
    refused(ctx, "1\n" BOX " Properties=species:S:1:pos\nAr 1 2 3\n", "",
            "expected name:type:count");
    refused(ctx, "1\n" BOX " Properties=pos:R:3\n1 2 3\n", "", "are required");
    refused(ctx,
            "2\n" BOX " Properties=id:I:1:species:S:1:pos:R:3\n"
            "1 Ar 1 2 3\n1 Kr 4 5 6\n",
            "", ":4:1: error: id 1 stands twice");
    refused(ctx,
            "2\n" BOX " Properties=id:I:1:species:S:1:pos:R:3\n"
            "1 Ar 1 2 3\n3 Kr 4 5 6\n",
            "", ":4:1: error: id '3': expected a whole number from 1");
    refused(ctx,
            "9000000000000000000\n" BOX
            " Properties=id:I:1:species:S:1:pos:R:3\n"
            "1 Ar 1 2 3\n",
            "", "more than the file has bytes");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nKr 1 2e10 3\n", "",
            "y = 2e+10 is more than 10^9 boxes away from the box");
    refused(ctx, "1\n" BOX "\n\033[31mX 1 2 3\n", "",
            "unknown species '?[31mX'");
    refused(ctx, "1\nno box\nAr 1 2 3\n", "", "names no box");
    refused(ctx, "1\n" BOX "\nAr 1 2 3\n", "[domain]\nsize = [9, 11, 12]\n",
            "is 10 long in x, not 9");
    refused(ctx, "1\nLattice=\"5 0 0 0 11 0 0 0 12\"\nAr 1 2 3\n", "",
            "must be below half the box, 2.5");
    refused(ctx, "2\n" BOX "\nAr 1 2 3\nAr 1 2.1 3\n", "",
            "particles 1 and 2 are only 0.1 apart");
    refused(ctx, "2\n" BOX "\nAr 0.05 2 3\nAr 9.99 2 3\n", "",
            "particles 1 and 2 are only 0.06 apart");
}

static void check_bytes(struct ctx *ctx)
{
    struct md_case c;
    static const char text[] = "1\n" BOX "\nA\0r 1 2 3\n";
    write_file(text, sizeof text - 1);
    int status = case_read(ctx, &c,
                           "[run]\nsolver = \"md\"\n[md]\nsteps = 0\n"
                           "[md.initial]\nread = \"%s/particles.xyz\"\n"
                           "[md.pair]\ncutoff = 2\n",
                           folder);
    tap_ok(status == STATUS_INPUT && strstr(ctx->error.text, ":3:2: error"),
           "refused: a zero byte");
    case_close(&c);
    static const char zeros[] = "1\n" BOX "\nA 1 2 3\n\0\0\0";
    write_file(zeros, sizeof zeros - 1);
    status = case_read(ctx, &c,
                       "[run]\nsolver = \"md\"\n[md]\nsteps = 0\n"
                       "[md.initial]\nread = \"%s/particles.xyz\"\n"
                       "[md.pair]\ncutoff = 2\n",
                       folder);
    tap_ok(status == STATUS_INPUT && strstr(ctx->error.text, ":4:1: error"),
           "refused: zero bytes behind the particles");
    case_close(&c);
    status = case_read(ctx, &c,
                       "[run]\nsolver = \"md\"\n[md]\nsteps = 0\n"
                       "[md.initial]\nread = \"%s/none.xyz\"\n"
                       "[md.pair]\ncutoff = 2\n",
                       folder);
    tap_ok(status == STATUS_INPUT && strstr(ctx->error.text, "No such file"),
           "refused: a file that is not there");
    case_close(&c);
    status = case_read(ctx, &c,
                       "[run]\nsolver = \"md\"\n[md]\nsteps = 0\n"
                       "[md.initial]\nread = \"%s/melt.pdb\"\n"
                       "[md.pair]\ncutoff = 2\n",
                       folder);
    tap_ok(status == STATUS_DECK && strstr(ctx->error.text, "\".xyz\""),
           "refused: a file of another kind");
    case_close(&c);
}

int main(int argc, char **argv)
{
    struct ctx ctx;
    if (test_start(&argc, &argv, &ctx) != 0)
        return 99;
    if (!getcwd(folder, sizeof folder))
        return 99;
    check_dialects(&ctx);
    check_errors(&ctx);
    check_bytes(&ctx);
    return test_end(&ctx);
}
