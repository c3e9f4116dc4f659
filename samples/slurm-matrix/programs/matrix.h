/* What both programs share: matrices of n by n whole numbers, which floats hold exactly, so that results can be compared exactly. */
#ifndef MATRIX_H
#define MATRIX_H
#include <stdio.h>
#include <stdlib.h>

/* Small enough that no sum of the largest matrix leaves the whole numbers that a float has (2 to the 24th). */
#define MAX_VALUE 10
#define MAX_SIZE 8192

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* The first argument, or 512. */
static int size_of(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 512;
  if (n < 1 || n > MAX_SIZE) fail("the size must be from 1 to 8192");
  return n;
}

static float *new_matrix(int n) {
  float *matrix = (float *)malloc(sizeof(float) * n * n);
  if (!matrix) fail("no memory for a matrix");
  return matrix;
}

/* Numbers from 0 to MAX_VALUE - 1, the same in every run. */
static float *filled_matrix(int n, unsigned seed) {
  float *matrix = new_matrix(n);
  for (size_t i = 0; i < (size_t)n * n; i++) {
    seed = seed * 1664525u + 1013904223u;
    matrix[i] = (float)((seed >> 16) % MAX_VALUE);
  }
  return matrix;
}

/* The first rows and columns, for people to look at. */
static void write_corner(const char *path, const float *matrix, int n) {
  FILE *file = fopen(path, "w");
  if (!file) fail("cannot write the result");
  int shown = n < 8 ? n : 8;
  for (int row = 0; row < shown; row++)
    for (int column = 0; column < shown; column++)
      fprintf(file, "%.0f%c", matrix[(size_t)row * n + column], column + 1 < shown ? ',' : '\n');
  if (fclose(file) != 0) fail("cannot write the result");
}

#ifdef __CUDACC__
static void check(cudaError_t error) {
  if (error != cudaSuccess) fail(cudaGetErrorString(error));
}

/* A program that was built for GPUs may be run where none is. */
static int has_gpu(void) {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

static float *to_gpu(const float *matrix, int n) {
  float *copy = NULL;
  check(cudaMalloc((void **)&copy, sizeof(float) * n * n));
  if (matrix) check(cudaMemcpy(copy, matrix, sizeof(float) * n * n, cudaMemcpyHostToDevice));
  return copy;
}

static void from_gpu(float *matrix, float *copy, int n) {
  check(cudaGetLastError());
  check(cudaMemcpy(matrix, copy, sizeof(float) * n * n, cudaMemcpyDeviceToHost));
}
#endif
#endif
