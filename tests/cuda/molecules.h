/* molecules.h: data files for the test of molecules on a card. */
#ifndef WARPDECK_TESTS_CUDA_MOLECULES_H
#define WARPDECK_TESTS_CUDA_MOLECULES_H

/* Chains of five with a branch, on a lattice; backwards: the last particle
 * comes first. Returns 0, or not where the file cannot be written. */
int molecules_write_chains(const char *path, int backwards);

/* Four shapes of rigid bonds in turn: two particles, three, rigid water, and a
 * center with three. */
int molecules_write_bodies(const char *path);

#endif
