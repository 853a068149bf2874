// Counts small cases that need EL1 with the performance counters of this machine.
//
//     make                                     with the headers of the kernel
//     sudo insmod n2sim_litmus.ko cpu=0        counts; repeats=5 is the default
//     cat /proc/n2sim_litmus > el1.json
//     sudo rmmod n2sim_litmus
//
// Each case has two functions: one prepares caches and TLBs and then runs the steps of the case,
// the other prepares alike and leaves the steps out. The difference of their counts, divided by the
// number of rounds, is what the steps count. A function runs with all exceptions masked. The
// counters are those of the kernel's own driver, so that perf can be used at the same time.
//
// System registers are written with the values that they have; TLB entries are only dropped, and
// lines are maintained by address, in memory of the module. A case whose step takes an exception
// has a vector of its own while exceptions are masked. An exception return keeps the level, the
// masks and PAN; SSBS, DIT, TCO, UAO and the flags are clear until the kernel is entered again. AT
// overwrites PAR_EL1.

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <asm/cputype.h>
#include <asm/sysreg.h>

#if !defined(CONFIG_ARM64) || !defined(CONFIG_ARM64_4K_PAGES)
#error "this module is for a kernel for arm64 with pages of 4 KiB"
#endif
#ifndef CONFIG_HW_PERF_EVENTS
#error "this kernel has no driver for performance counters (CONFIG_HW_PERF_EVENTS)"
#endif

#undef pr_fmt
#define pr_fmt(text) "n2sim_litmus: " text

// Pages that are one piece of memory, as a power of two: 2 MiB.
#define BLOCK_ORDER 9
#define BLOCK_PAGES (1ul << BLOCK_ORDER)
// A counted loop has this many times the rounds of a recorded one.
#define COUNTED_TIMES 8
#define MOST_COUNTERS 31
#define MOST_REPEATS 20
// Counts of a round are kept as multiples of 1/10000.
#define SCALE 10000

// Checks of the targets of indirect calls know no functions of assembly.
#ifndef __nocfi
#define __nocfi
#endif

struct event {
    const char *name;
    unsigned int code;
};

typedef void function(void *memory, unsigned long rounds);

struct litmus {
    const char *id;
    function *with;
    function *without;
    unsigned long rounds;
    // A kernel at EL2 has other registers under the names of the steps.
    int el1_alone;
};

// Tables of the module, which follow this text.
struct tables {
    const struct event *events;
    size_t all_events;
    const struct litmus *cases;
    size_t all_cases;
    const char *program;
    unsigned long bytes;
};

static int cpu;
module_param(cpu, int, 0444);
MODULE_PARM_DESC(cpu, "count on this processor (default: 0)");
static int repeats = 5;
module_param(repeats, int, 0444);
MODULE_PARM_DESC(repeats, "count every event this often (2 to 20, default: 5)");

static const struct tables *tables;
// Pages of the memory of the cases, and where they are mapped.
static struct page **pages;
static void *memory;
// The kernel runs at EL2.
static bool at_el2;
static u32 midr;
static time64_t counted_at;
// Counters of the machine; 0 if it counts nothing.
static size_t counters;
// Counts of a round, for each case, event and repetition; COUNT_MISSING if there is none.
static s64 *counts;
#define COUNT_MISSING S64_MIN

static s64 *count_of(size_t litmus, size_t event, size_t repeat)
{
    return counts + (litmus * tables->all_events + event) * repeats + repeat;
}

// ---- Memory ----

static void free_memory(void)
{
    size_t all = tables->bytes >> PAGE_SHIFT, at;

    if (memory)
        vunmap(memory);
    for (at = 0; pages && at < all; at += BLOCK_PAGES)
        if (pages[at])
            __free_pages(pages[at], BLOCK_ORDER);
    kvfree(pages);
    vfree(counts);
}

// Maps blocks of memory page by page, so that TLBs have an entry for each page, and sets of caches
// are known inside a block.
static int map_memory(void)
{
    size_t all = tables->bytes >> PAGE_SHIFT, at, i;

    pages = kvcalloc(all, sizeof(*pages), GFP_KERNEL);
    counts = vmalloc(array3_size(tables->all_cases * tables->all_events, repeats, sizeof(*counts)));
    if (!pages || !counts)
        return -ENOMEM;
    for (at = 0; at < all; at += BLOCK_PAGES) {
        struct page *block = alloc_pages(GFP_KERNEL | __GFP_ZERO, BLOCK_ORDER);

        if (!block)
            return -ENOMEM;
        for (i = 0; i < BLOCK_PAGES; i++)
            pages[at + i] = block + i;
    }
    memory = vmap(pages, all, VM_MAP, PAGE_KERNEL);
    return memory ? 0 : -ENOMEM;
}

// ---- Counters ----

static void close_group(struct perf_event **group, size_t size)
{
    while (size-- > 0)
        perf_event_release_kernel(group[size]);
}

// Opens counters that run at EL1, and at EL2 where the kernel does. Returns 0, or an error; then
// nothing stays open.
static int open_group(struct perf_event **group, const struct event *events, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        struct perf_event_attr attr = {
            .type = PERF_TYPE_RAW,
            .size = sizeof(attr),
            .config = events[i].code,
            .pinned = 1,
            .exclude_user = 1,
            .exclude_hv = 1,
        };

        group[i] = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
        if (IS_ERR(group[i])) {
            close_group(group, i);
            return PTR_ERR(group[i]);
        }
        if (group[i]->state != PERF_EVENT_STATE_ACTIVE) {
            close_group(group, i + 1);
            return -EBUSY;
        }
    }
    return 0;
}

// Reads a counter. Returns false if it does not run: then the driver has no register for it.
static __always_inline bool read_counter(struct perf_event *event, u64 *value)
{
    if (event->state != PERF_EVENT_STATE_ACTIVE)
        return false;
    event->pmu->read(event);
    *value = local64_read(&event->count);
    return true;
}

// Counts one call with all exceptions masked. Returns false if a counter did not run.
static noinline __nocfi bool count(struct perf_event **group, size_t size, function *call,
                                   unsigned long rounds, u64 *values)
{
    unsigned long flags, masks;
    bool good = true;
    size_t i;

    local_irq_save(flags);
    masks = read_sysreg(daif);
    asm volatile("msr daifset, #0xf" : : : "memory");
    for (i = 0; good && i < size; i++)
        good = read_counter(group[i], &values[i]);
    if (good)
        call(memory, rounds);
    for (i = 0; good && i < size; i++) {
        u64 before = values[i];

        good = read_counter(group[i], &values[i]);
        values[i] -= before;
    }
    write_sysreg(masks, daif);
    local_irq_restore(flags);
    cond_resched();
    return good;
}

// Returns false for an architected event that the PMU does not have: it would count 0. A machine
// without a PMU has not even the registers.
static bool has_event(unsigned int code)
{
    unsigned int version = read_sysreg(id_aa64dfr0_el1) >> 8 & 0xf;
    u64 ids;

    if (version == 0 || version == 0xf)
        return false;
    ids = code & 0x20 ? read_sysreg(pmceid1_el0) : read_sysreg(pmceid0_el0);
    if (code < 0x40)
        return ids >> (code & 0x1f) & 1;
    if (code >= 0x4000 && code < 0x4040)
        return ids >> (32 + (code & 0x1f)) & 1;
    return true;
}

static size_t find_counters(void)
{
    struct perf_event *group[MOST_COUNTERS];
    size_t size;

    for (size = min_t(size_t, MOST_COUNTERS, tables->all_events); size > 0; size--) {
        if (open_group(group, tables->events, size) == 0) {
            close_group(group, size);
            return size;
        }
    }
    return 0;
}

// ---- Cases ----

static bool runs_here(const struct litmus *litmus)
{
    return !at_el2 || !litmus->el1_alone;
}

static __nocfi void run_uncounted(const struct litmus *litmus, unsigned long rounds)
{
    count(NULL, 0, litmus->with, rounds, NULL);
    count(NULL, 0, litmus->without, rounds, NULL);
}

// Counts a group of events of a case. Returns false if it cannot be counted.
static bool count_events(size_t number, const size_t *chosen, size_t size)
{
    const struct litmus *litmus = &tables->cases[number];
    unsigned long rounds = COUNTED_TIMES * litmus->rounds;
    struct perf_event *group[MOST_COUNTERS];
    struct event events[MOST_COUNTERS];
    u64 with[MOST_COUNTERS], without[MOST_COUNTERS];
    bool good = true;
    int repeat;
    size_t i;

    for (i = 0; i < size; i++)
        events[i] = tables->events[chosen[i]];
    if (open_group(group, events, size) != 0)
        return false;
    // The first run fills caches and predictors; it is not kept.
    for (repeat = -1; good && repeat < repeats; repeat++) {
        good = count(group, size, litmus->with, rounds, with);
        good = good && count(group, size, litmus->without, rounds, without);
        for (i = 0; good && repeat >= 0 && i < size; i++)
            *count_of(number, chosen[i], repeat) =
                div_s64((s64)(with[i] - without[i]) * SCALE, rounds);
    }
    for (i = 0; !good && i < size; i++)
        *count_of(number, chosen[i], 0) = COUNT_MISSING;
    close_group(group, size);
    return good;
}

static void count_case(size_t number, const size_t *present, size_t all)
{
    size_t at, i;

    for (at = 0; at < all; at += counters) {
        size_t size = min(counters, all - at);

        // An event that cannot be counted spoils its group: count the others alone.
        if (!count_events(number, present + at, size))
            for (i = 0; i < size; i++)
                count_events(number, present + at + i, 1);
    }
}

// Counts all cases; on the chosen processor.
static int count_all(void *unused)
{
    size_t all = 0, i;
    size_t *present;

    if ((read_sysreg(id_aa64mmfr1_el1) >> 20 & 0xf) == 0) {
        pr_err("cpu=%d: this processor is older than Armv8.1, and some cases need it\n", cpu);
        return -EOPNOTSUPP;
    }
    present = kvcalloc(tables->all_events, sizeof(*present), GFP_KERNEL);
    if (!present)
        return -ENOMEM;
    at_el2 = read_sysreg(CurrentEL) == CurrentEL_EL2;
    midr = read_cpuid_id();
    counted_at = ktime_get_real_seconds();
    for (i = 0; i < tables->all_cases * tables->all_events; i++)
        counts[i * repeats] = COUNT_MISSING;
    for (i = 0; i < tables->all_events; i++)
        if (has_event(tables->events[i].code))
            present[all++] = i;
    counters = find_counters();
    if (counters == 0)
        pr_err("not countable: this machine, or the hypervisor below it, gives the kernel no counters\n");
    if (at_el2)
        pr_info("this kernel runs at EL2: cases of registers and exceptions of EL1 are left out\n");
    for (i = 0; i < tables->all_cases; i++) {
        const struct litmus *litmus = &tables->cases[i];

        if (!runs_here(litmus))
            continue;
        run_uncounted(litmus, 1);
        run_uncounted(litmus, litmus->rounds);
        if (counters != 0)
            count_case(i, present, all);
    }
    kvfree(present);
    return 0;
}

// ---- The result ----

static void show_counts(struct seq_file *out, size_t number, size_t event, bool is_first)
{
    int repeat;

    seq_printf(out, "%s\n      \"%s\": [", is_first ? "" : ",", tables->events[event].name);
    for (repeat = 0; repeat < repeats; repeat++) {
        s64 value = *count_of(number, event, repeat);
        u64 whole = abs(value);
        u32 rest = do_div(whole, SCALE);

        seq_printf(out, "%s%s%llu.%04u", repeat == 0 ? "" : ", ", value < 0 ? "-" : "", whole, rest);
    }
    seq_putc(out, ']');
}

static void show_case(struct seq_file *out, size_t number)
{
    const struct litmus *litmus = &tables->cases[number];
    bool is_first = true;
    size_t event;

    seq_printf(out, "    {\"case\": \"%s\", \"rounds\": %lu, \"counts\": {", litmus->id,
               COUNTED_TIMES * litmus->rounds);
    for (event = 0; event < tables->all_events; event++) {
        if (*count_of(number, event, 0) == COUNT_MISSING)
            continue;
        show_counts(out, number, event, is_first);
        is_first = false;
    }
    seq_puts(out, "\n    }}");
}

// Writes the result in the form of the program of user mode.
static int show(struct seq_file *out, void *unused)
{
    bool is_first = true;
    size_t i;

    seq_printf(out, "{\n  \"format\": \"n2sim litmus 1\",\n  \"program\": \"%s\",\n", tables->program);
    seq_printf(out, "  \"machine\": {\n    \"midr\": \"0x%016x\",\n    \"kernel\": \"%s\",\n", midr,
               init_utsname()->release);
    seq_printf(out, "    \"cpu\": %d,\n    \"counters\": %zu,\n    \"page_bytes\": %lu,\n", cpu,
               counters, PAGE_SIZE);
    seq_printf(out, "    \"huge_pages\": true,\n    \"time\": %lld\n  },\n  \"cases\": [",
               (long long)counted_at);
    for (i = 0; counters != 0 && i < tables->all_cases; i++) {
        if (!runs_here(&tables->cases[i]))
            continue;
        seq_puts(out, is_first ? "\n" : ",\n");
        is_first = false;
        show_case(out, i);
    }
    seq_puts(out, "\n  ],\n  \"kernels\": []\n}\n");
    return 0;
}

// Counts, and offers the result.
static int start(const struct tables *own)
{
    int error;

    tables = own;
    if (repeats < 2 || repeats > MOST_REPEATS) {
        pr_err("repeats=%d: give a number from 2 to %d\n", repeats, MOST_REPEATS);
        return -EINVAL;
    }
    if (cpu < 0 || cpu >= (int)nr_cpu_ids || !cpu_online(cpu)) {
        pr_err("cpu=%d: this processor is not there, or off\n", cpu);
        return -EINVAL;
    }
    // TLBI VAE1 with ASID 0 would not take such pages out.
    if (pgprot_val(PAGE_KERNEL) & PTE_NG) {
        pr_err("this kernel gives its own pages an ASID (nG): boot it with kpti=off nokaslr for these cases\n");
        return -EOPNOTSUPP;
    }
    error = map_memory();
    if (error == 0)
        error = smp_call_on_cpu(cpu, count_all, NULL, false);
    if (error == 0 && !proc_create_single("n2sim_litmus", 0444, NULL, show))
        error = -ENOMEM;
    if (error != 0) {
        // Else the reason is in the log.
        if (error != -EOPNOTSUPP)
            pr_err("cannot count: error %d\n", error);
        free_memory();
    }
    return error;
}

static void stop(void)
{
    remove_proc_entry("n2sim_litmus", NULL);
    free_memory();
}
