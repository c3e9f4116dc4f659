/* c = a b: on a GPU by tiles that a block of threads reads once for all, else on the CPU. The result is checked in another way. */
#include "matrix.h"

#define TILE 16

#ifdef __CUDACC__
__global__ void multiply_on_gpu(const float *a, const float *b, float *c, int n) {
  __shared__ float left[TILE][TILE], right[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < n; start += TILE) {
    int across = start + threadIdx.x, down = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < n && across < n ? a[(size_t)row * n + across] : 0;
    right[threadIdx.y][threadIdx.x] = down < n && column < n ? b[(size_t)down * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[(size_t)row * n + column] = sum;
}
#endif

static const char *multiply(const float *a, const float *b, float *c, int n) {
#ifdef __CUDACC__
  if (has_gpu()) {
    float *there[] = {to_gpu(a, n), to_gpu(b, n), to_gpu(NULL, n)};
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    multiply_on_gpu<<<grid, block>>>(there[0], there[1], there[2], n);
    from_gpu(c, there[2], n);
    for (int i = 0; i < 3; i++) check(cudaFree(there[i]));
    return "the GPU";
  }
#endif
  for (int row = 0; row < n; row++) {
    float *sums = c + (size_t)row * n;
    for (int column = 0; column < n; column++) sums[column] = 0;
    for (int i = 0; i < n; i++)
      for (int column = 0; column < n; column++)
        sums[column] += a[(size_t)row * n + i] * b[(size_t)i * n + column];
  }
  return "the CPU";
}

/* Of a matrix and a vector; doubles hold all of it exactly. */
static void times(const float *matrix, const double *vector, double *product, int n) {
  for (int row = 0; row < n; row++) {
    product[row] = 0;
    for (int i = 0; i < n; i++) product[row] += matrix[(size_t)row * n + i] * vector[i];
  }
}

/* Freivalds: c x = a (b x) for a vector of which nobody knew before is almost never so for a wrong c, and takes n times less. */
static int is_product(const float *a, const float *b, const float *c, int n) {
  double *vectors = (double *)malloc(sizeof(double) * n * 4);
  if (!vectors) fail("no memory for the check");
  double *x = vectors, *bx = vectors + n, *abx = vectors + 2 * n, *cx = vectors + 3 * n;
  unsigned seed = 3;
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    x[i] = (double)((seed >> 16) % 1000);
  }
  times(b, x, bx, n);
  times(a, bx, abx, n);
  times(c, x, cx, n);
  int same = 1;
  for (int i = 0; i < n; i++) same = same && abx[i] == cx[i];
  free(vectors);
  return same;
}

int main(int argc, char **argv) {
  int n = size_of(argc, argv);
  float *a = filled_matrix(n, 1), *b = filled_matrix(n, 2), *c = new_matrix(n);
  const char *where = multiply(a, b, c, n);
  if (!is_product(a, b, c, n)) fail("the product is wrong");
  write_corner("product.csv", c, n);
  printf("%d x %d numbers multiplied on %s: the product is right\n", n, n, where);
  return 0;
}
