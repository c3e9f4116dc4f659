/* c = a + b: on a GPU with a thread for each number, else on the CPU. Every number of the result is checked. */
#include "matrix.h"

#ifdef __CUDACC__
__global__ void add_on_gpu(const float *a, const float *b, float *c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < n && column < n) c[(size_t)row * n + column] = a[(size_t)row * n + column] + b[(size_t)row * n + column];
}
#endif

static const char *add(const float *a, const float *b, float *c, int n) {
#ifdef __CUDACC__
  if (has_gpu()) {
    float *there[] = {to_gpu(a, n), to_gpu(b, n), to_gpu(NULL, n)};
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    add_on_gpu<<<grid, block>>>(there[0], there[1], there[2], n);
    from_gpu(c, there[2], n);
    for (int i = 0; i < 3; i++) check(cudaFree(there[i]));
    return "the GPU";
  }
#endif
  for (size_t i = 0; i < (size_t)n * n; i++) c[i] = a[i] + b[i];
  return "the CPU";
}

int main(int argc, char **argv) {
  int n = size_of(argc, argv);
  float *a = filled_matrix(n, 1), *b = filled_matrix(n, 2), *c = new_matrix(n);
  const char *where = add(a, b, c, n);
  for (size_t i = 0; i < (size_t)n * n; i++)
    if (c[i] - a[i] != b[i]) fail("the sum is wrong");
  write_corner("sum.csv", c, n);
  printf("%d x %d numbers added on %s: all are right\n", n, n, where);
  return 0;
}
