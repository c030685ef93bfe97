/* faults.h: what the faults of kernels (faults.cu) and those of the host's
 * calls (faults_host.cu) share.
 */
#ifndef WARPDECK_TESTS_CUDA_FAULTS_H
#define WARPDECK_TESTS_CUDA_FAULTS_H

#include "kernels/gpu.h"

const int N = 1000;

float *floats(int n); // memory of the card
// Runs what is queued; the program is wrong if it says that all is well.
void finish(float *a, float *b = nullptr);
void wrong_unless(bool right);
void queue_put(float *a); // fill N numbers
void queue_stop(cudaStream_t s);

void host_read();
void long_copy();
void copy_kind();
void early_look();
void leak();
void leaked_stream();
void inner_free();
void double_free();
void wrong_free();
void late_use();
void never_waited();
void wait_in_capture();
void dead_stream();
void lost_card();

#endif
