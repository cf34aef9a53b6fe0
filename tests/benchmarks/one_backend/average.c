/* Averages over windows of f32 images: what a small C library has. */
#include <stddef.h>

/* planes images of size[0] x size[1]; out[0] x out[1] windows each. With exclude, padding does not
   count in the divisor. */
void average(const float *data, float *result, ptrdiff_t planes, const ptrdiff_t *size,
             const ptrdiff_t *out, const ptrdiff_t *kernel, const ptrdiff_t *strides,
             const ptrdiff_t *begin, int exclude)
{
    for (ptrdiff_t p = 0; p < planes; p++, data += size[0] * size[1])
        for (ptrdiff_t y = 0; y < out[0]; y++)
            for (ptrdiff_t x = 0; x < out[1]; x++) {
                double sum = 0;
                ptrdiff_t count = 0;
                for (ptrdiff_t ky = 0; ky < kernel[0]; ky++)
                    for (ptrdiff_t kx = 0; kx < kernel[1]; kx++) {
                        ptrdiff_t r = y * strides[0] - begin[0] + ky;
                        ptrdiff_t c = x * strides[1] - begin[1] + kx;
                        if (r >= 0 && r < size[0] && c >= 0 && c < size[1]) {
                            sum += data[r * size[1] + c];
                            count++;
                        }
                    }
                if (!exclude)
                    count = kernel[0] * kernel[1];
                *result++ = (float)(sum / count);
            }
}
