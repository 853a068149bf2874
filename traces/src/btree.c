// A B-tree with up to 15 keys a node: insert 8,000 random keys, then look up 16,000.
#include "start.h"

#define ORDER 16
#define KEYS 8000
#define LOOKUPS 16000

struct node {
    u32 count;
    u32 is_leaf;
    u64 keys[ORDER - 1];
    struct node *children[ORDER];
};

static struct node pool[KEYS / 4];
static u32 pool_used;
static struct node *root;
static u64 keys[KEYS];

static struct node *new_node(u32 is_leaf) {
    struct node *node = &pool[pool_used++];
    node->is_leaf = is_leaf;
    return node;
}

// Splits the full child `at` of `parent`, which has room.
static NOINLINE void split(struct node *parent, u32 at) {
    struct node *left = parent->children[at];
    struct node *right = new_node(left->is_leaf);
    const u32 half = ORDER / 2;
    right->count = half - 1;
    for (u32 i = 0; i < half - 1; i++) right->keys[i] = left->keys[i + half];
    if (!left->is_leaf)
        for (u32 i = 0; i < half; i++) right->children[i] = left->children[i + half];
    left->count = half - 1;
    for (u32 i = parent->count; i > at; i--) {
        parent->keys[i] = parent->keys[i - 1];
        parent->children[i + 1] = parent->children[i];
    }
    parent->keys[at] = left->keys[half - 1];
    parent->children[at + 1] = right;
    parent->count++;
}

static NOINLINE void insert(u64 key) {
    if (root->count == ORDER - 1) {
        struct node *top = new_node(0);
        top->children[0] = root;
        root = top;
        split(root, 0);
    }
    struct node *node = root;
    for (;;) {
        u32 at = node->count;
        if (node->is_leaf) {
            while (at > 0 && node->keys[at - 1] > key) {
                node->keys[at] = node->keys[at - 1];
                at--;
            }
            node->keys[at] = key;
            node->count++;
            return;
        }
        while (at > 0 && node->keys[at - 1] > key) at--;
        if (node->children[at]->count == ORDER - 1) {
            split(node, at);
            if (key > node->keys[at]) at++;
        }
        node = node->children[at];
    }
}

static NOINLINE int contains(u64 key) {
    for (struct node *node = root;;) {
        u32 at = 0;
        while (at < node->count && node->keys[at] < key) at++;
        if (at < node->count && node->keys[at] == key) return 1;
        if (node->is_leaf) return 0;
        node = node->children[at];
    }
}

void run(void) {
    u64 state = 4;
    // Odd keys are in the tree, even ones are not.
    for (u32 i = 0; i < KEYS; i++) keys[i] = next_random(&state) | 1;
    root = new_node(1);
    ROI_BEGIN();
    for (u32 i = 0; i < KEYS; i++) insert(keys[i]);
    u64 found = 0, expected = 0;
    for (u32 i = 0; i < LOOKUPS; i++) {
        u64 random = next_random(&state);
        u64 absent = random >> 62 == 0;
        found += (u64)contains(keys[random % KEYS] - absent);
        expected += !absent;
    }
    ROI_END();
    report("btree", found == expected, found);
}
