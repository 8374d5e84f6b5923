/* What kernels need of Numba's runtime: memory for arrays of their own. A block begins as Numba's MemInfo does. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef struct {
    size_t references;
    void (*destroy)(void *data, size_t size, void *more);
    void *more, *data;
    size_t size;
    void *allocator;
} block_t;

HIDDEN void *NRT_MemInfo_alloc_aligned(size_t size, unsigned alignment) {
    if (alignment < 16) alignment = 16;
    if (size > SIZE_MAX / 2) return NULL;
    block_t *block = malloc(sizeof *block + alignment + size);
    if (!block) return NULL;
    uintptr_t after = (uintptr_t)(block + 1);
    *block = (block_t){.references = 1, .size = size};
    block->data = (void *)((after + alignment - 1) / alignment * alignment);
    return block;
}

HIDDEN void *NRT_MemInfo_alloc_safe_aligned(size_t size, unsigned alignment) {
    return NRT_MemInfo_alloc_aligned(size, alignment);
}

HIDDEN void *NRT_MemInfo_alloc(size_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

HIDDEN void *NRT_MemInfo_alloc_safe(size_t size) { return NRT_MemInfo_alloc_aligned(size, 16); }

HIDDEN void NRT_MemInfo_call_dtor(block_t *block) {
    if (block->destroy) block->destroy(block->data, block->size, block->more);
    free(block);
}
