// Counts small cases and kernels with the performance counters of this machine.
//
//     cc -O1 -o litmus litmus.c        any gcc or clang for AArch64 Linux, no libraries
//     ./litmus -o result.json          needs counters for user mode (perf)
//
// Each case has two functions: one prepares caches and TLBs and then runs the steps of the case,
// the other prepares alike and leaves the steps out. The difference of their counts, divided by the
// number of rounds, is what the steps count. A kernel is one function, a loop of many rounds: its
// counts are divided by their number. Every event is counted in a group of as many events as
// the machine has counters, so that no count is an estimate, and several times.

#if !defined(__aarch64__) || !defined(__linux__)
#error "this program is for AArch64 Linux: compile it there, or with a compiler for it"
#endif

// The assembly of a function is one long literal.
#pragma GCC diagnostic ignored "-Woverlength-strings"

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (2ul << 20)
// Blocks of 2 MiB, whatever the usual size of huge pages is.
#define HUGE_2MB (21 << 26)
// Lines of the cases, which code can be fetched from.
#define CODE_BYTES (4ul << 20)
// A counted loop has this many times the rounds of a recorded one.
#define COUNTED_TIMES 8
#define MOST_COUNTERS 31
#define MOST_REPEATS 1000

struct event {
    const char *name;
    unsigned code;
    // Cases count it too, not only kernels.
    int in_cases;
};

struct litmus {
    const char *id;
    void (*with)(void *memory, unsigned long rounds);
    void (*without)(void *memory, unsigned long rounds);
    unsigned long rounds;
    int small_pages;
    int needs_blocks;
};

struct kernel {
    const char *id;
    void (*call)(void *memory, unsigned long rounds);
    unsigned long rounds;
    unsigned long counted_rounds;
    unsigned long bytes;
    // Bytes from one pointer of the cycle to the next; 0 if the memory has no pointers.
    unsigned long distance;
    // Bytes from one load of the preparation to the next; 0 if there is none.
    unsigned long touch;
    // The memory has random bytes of 0 and 1.
    int bits;
    int needs_blocks;
    // Loop of another core at the same time, or NULL.
    void (*peer)(void *memory, unsigned long rounds);
};

// What the program has.
struct tables {
    const struct event *events;
    size_t all_events;
    const struct litmus *cases;
    size_t all_cases;
    const struct kernel *kernels;
    size_t all_kernels;
    const char *program;
    const char *kernel_program;
    unsigned long bytes;
};

struct options {
    const char *output;
    const char *only;
    int no_cases;
    int no_kernels;
    int no_pairs;
    int cpu;
    // Processor of the other core; -1 if there is none.
    int peer_cpu;
    int repeats;
    int replay;
};

// The PMU of the processor that counts.
struct pmu {
    unsigned type;
    // Its directory in sysfs; empty if it is not found.
    char path[320];
};

// Memory of the cases: one piece of small pages, one of blocks.
struct memory {
    void *pages;
    void *blocks;
    int has_blocks;
};

static const char USAGE[] =
    "usage: litmus [-o FILE] [--cpu N] [--repeats N] [--cases | --kernels | --pairs] [--case TEXT]\n"
    "              [--replay]\n"
    "  -o FILE      write the result there (default: standard output)\n"
    "  --cpu N      run on this processor (default: the first one allowed)\n"
    "  --repeats N  count every event this often (default: 5, at most 1000)\n"
    "  --cases      only cases, no kernels\n"
    "  --kernels    only kernels, no cases\n"
    "  --pairs      only kernels of two cores\n"
    "  --case TEXT  only cases and kernels with TEXT in their name\n"
    "  --replay     run the cases, --kernels or --pairs without counting, for a recording\n";

static int wrong_use(const char *what, const char *option) {
    fprintf(stderr, "litmus: %s '%s'\n%s", what, option, USAGE);
    return 2;
}

static int read_number(const char *text, int least, int most, int *number) {
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most)
        return 0;
    *number = (int)value;
    return 1;
}

// Returns 0, or the exit code.
static int read_options(int argc, char **argv, struct options *options) {
    const char *only = "";
    int chosen = 0;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            fputs(USAGE, stdout);
            exit(0);
        }
        if (strcmp(option, "--replay") == 0) {
            options->replay = 1;
            continue;
        }
        if (strcmp(option, "--cases") == 0 || strcmp(option, "--kernels") == 0 ||
            strcmp(option, "--pairs") == 0) {
            only = option;
            chosen++;
            continue;
        }
        int takes_value = strcmp(option, "-o") == 0 || strcmp(option, "--cpu") == 0 ||
                          strcmp(option, "--repeats") == 0 || strcmp(option, "--case") == 0;
        if (!takes_value)
            return wrong_use("unknown option", option);
        if (++i == argc)
            return wrong_use("a value is missing after", option);
        if (strcmp(option, "-o") == 0)
            options->output = argv[i];
        else if (strcmp(option, "--case") == 0)
            options->only = argv[i];
        else if (strcmp(option, "--cpu") == 0 && !read_number(argv[i], 0, 65535, &options->cpu))
            return wrong_use("not the number of a processor:", argv[i]);
        else if (strcmp(option, "--repeats") == 0 &&
                 !read_number(argv[i], 2, MOST_REPEATS, &options->repeats))
            return wrong_use("not a number from 2 to 1000:", argv[i]);
    }
    if (chosen > 1)
        return wrong_use("give one of --cases, --kernels and --pairs, not also", only);
    // Recordings are of one kind each: kernels need regions, and pairs two threads.
    int cases = strcmp(only, "--cases") == 0 || (options->replay && chosen == 0);
    int kernels = strcmp(only, "--kernels") == 0, pairs = strcmp(only, "--pairs") == 0;
    options->no_cases = kernels || pairs;
    options->no_kernels = cases || pairs;
    options->no_pairs = cases || (options->replay && kernels);
    return 0;
}

static int run_on(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

// Keeps this program on one processor, and finds another one. Returns false if it cannot.
static int pin(struct options *options) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    if (options->cpu < 0) {
        options->cpu = 0;
        while (options->cpu < CPU_SETSIZE - 1 && !CPU_ISSET(options->cpu, &allowed))
            options->cpu++;
    }
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (cpu != options->cpu && CPU_ISSET(cpu, &allowed))
            options->peer_cpu = cpu;
    return run_on(options->cpu);
}

// Returns true if the kernel backs all the memory at `start` with blocks of 2 MiB.
static int is_in_blocks(const void *start, unsigned long bytes) {
    FILE *file = fopen("/proc/self/smaps", "r");
    if (file == NULL)
        return 0;
    char line[512];
    int inside = 0, found = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long from, to, kilobytes;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = from <= (unsigned long)start && (unsigned long)start < to;
        else if (inside && sscanf(line, "AnonHugePages: %lu", &kilobytes) == 1)
            found |= kilobytes >= bytes >> 10;
    }
    fclose(file);
    return found;
}

static void *map(unsigned long bytes, int advice) {
    void *all = mmap(NULL, bytes + BLOCK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *start = (char *)(((uintptr_t)all + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1));
    madvise(start, bytes, advice);
    // Every page gets memory of its own; pages that were never written share one.
    for (unsigned long at = 0; at < bytes; at += 4096)
        *(volatile char *)(start + at) = 0;
    return start;
}

static int is_available(unsigned long bytes);

// Maps memory in blocks of 2 MiB, or, if the kernel gives none, in small pages.
static void *map_blocks(unsigned long bytes, int *has_blocks) {
    void *huge = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | HUGE_2MB | MAP_POPULATE, -1, 0);
    *has_blocks = 1;
    if (huge != MAP_FAILED && (uintptr_t)huge % BLOCK_BYTES == 0)
        return huge;
    void *blocks = is_available(bytes) ? map(bytes, MADV_HUGEPAGE) : NULL;
    *has_blocks = blocks != NULL && is_in_blocks(blocks, bytes);
    return blocks;
}

static int map_memory(struct memory *memory, unsigned long bytes) {
    memory->pages = map(bytes, MADV_NOHUGEPAGE);
    memory->blocks = map_blocks(bytes, &memory->has_blocks);
    return memory->pages != NULL && memory->blocks != NULL;
}

// Writes a function that returns at once into each line that a case can use, and lets it run. A
// system that does not allow this ends the cases that fetch from there with a signal.
static void write_code(void *start) {
    for (unsigned long line = 0; line < CODE_BYTES; line += 64) {
        volatile uint32_t *words = (volatile uint32_t *)((char *)start + line + 56);
        words[0] = 0xd503245f; // bti c
        words[1] = 0xd65f03c0; // ret
    }
    // The kernel makes code visible to fetches when it maps it for them.
    mprotect(start, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
}

// Opens a counter of user mode; `leader` is -1 or the first counter of its group.
static int open_counter(const struct pmu *pmu, unsigned code, int leader) {
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = pmu->type;
    attr.config = code;
    attr.disabled = leader < 0;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
}

// A group of counters: how many there are, their files, and their last counts.
struct group {
    size_t size;
    int files[MOST_COUNTERS];
    uint64_t counts[MOST_COUNTERS];
};

static void close_group(struct group *group) {
    for (size_t i = 0; i < group->size; i++)
        close(group->files[i]);
    group->size = 0;
}

// Opens a group. On failure nothing stays open, and errno says why.
static int open_group(struct group *group, const struct pmu *pmu, const struct event *events,
                      size_t size) {
    group->size = 0;
    for (size_t i = 0; i < size; i++) {
        int file = open_counter(pmu, events[i].code, i == 0 ? -1 : group->files[0]);
        if (file < 0) {
            int reason = errno;
            close_group(group);
            errno = reason;
            return 0;
        }
        group->files[group->size++] = file;
    }
    return 1;
}

// Counts one call. Returns false if the counters did not run all the time.
static int count(struct group *group, void (*function)(void *, unsigned long), void *memory,
                 unsigned long rounds) {
    uint64_t values[3 + MOST_COUNTERS];
    int leader = group->files[0];
    ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
    function(memory, rounds);
    ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    ssize_t bytes = (ssize_t)((3 + group->size) * sizeof *values);
    if (read(leader, values, sizeof values) < bytes || values[2] == 0 || values[1] != values[2])
        return 0;
    memcpy(group->counts, values + 3, group->size * sizeof *values);
    return 1;
}

// Returns how many events a group can have here; 0 with errno if the machine counts nothing.
static size_t find_counters(const struct pmu *pmu, const struct event *events, size_t all,
                            const struct litmus *sample, void *memory) {
    size_t most = all < MOST_COUNTERS ? all : MOST_COUNTERS;
    int reason = 0;
    for (size_t size = most; size > 0; size--) {
        struct group group;
        if (!open_group(&group, pmu, events, size)) {
            reason = errno;
            continue;
        }
        int runs = count(&group, sample->without, memory, 10);
        close_group(&group);
        if (runs)
            return size;
        reason = EOPNOTSUPP;
    }
    errno = reason;
    return 0;
}

static void read_line(const char *path, char *line, int size) {
    line[0] = '\0';
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    if (fgets(line, size, file) == NULL)
        line[0] = '\0';
    fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

// Returns true if a list of processors, such as 0-3,8, has this one.
static int has_cpu(const char *list, int cpu) {
    while (*list != '\0') {
        char *end;
        long first = strtol(list, &end, 10);
        if (end == list)
            return 0;
        long last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (first <= cpu && cpu <= last)
            return 1;
        list = *end == ',' ? end + 1 : end;
    }
    return 0;
}

// Finds the PMU of a processor: a machine with several kinds of cores has several. Without one,
// raw events of the first PMU are counted.
static struct pmu find_pmu(int cpu) {
    static const char DEVICES[] = "/sys/bus/event_source/devices";
    struct pmu pmu = {PERF_TYPE_RAW, ""};
    DIR *devices = opendir(DEVICES);
    if (devices == NULL)
        return pmu;
    struct dirent *entry;
    while ((entry = readdir(devices)) != NULL) {
        char path[640], line[4096];
        snprintf(path, sizeof path, "%s/%.255s/cpus", DEVICES, entry->d_name);
        read_line(path, line, sizeof line);
        if (strncmp(entry->d_name, "arm", 3) != 0 || !has_cpu(line, cpu))
            continue;
        snprintf(path, sizeof path, "%s/%.255s/type", DEVICES, entry->d_name);
        read_line(path, line, sizeof line);
        int type;
        if (!read_number(line, 0, 1 << 30, &type))
            continue;
        pmu.type = (unsigned)type;
        snprintf(pmu.path, sizeof pmu.path, "%s/%.255s", DEVICES, entry->d_name);
        break;
    }
    closedir(devices);
    return pmu;
}

// Returns false for an architected event that the PMU does not have. The kernel lists those that it
// has; other events it counts whether they exist or not.
static int has_event(const struct pmu *pmu, unsigned code) {
    int is_architected = code < 0x40 || (code >= 0x4000 && code < 0x4040);
    char path[640];
    snprintf(path, sizeof path, "%s/events", pmu->path);
    DIR *events = is_architected && pmu->path[0] != '\0' ? opendir(path) : NULL;
    if (events == NULL)
        return 1;
    int listed = 0, found = 0;
    struct dirent *entry;
    while (!found && (entry = readdir(events)) != NULL) {
        char line[128];
        unsigned listed_code;
        snprintf(path, sizeof path, "%s/events/%.255s", pmu->path, entry->d_name);
        read_line(path, line, sizeof line);
        if (sscanf(line, "event=%x", &listed_code) == 1) {
            listed = 1;
            found = listed_code == code;
        }
    }
    closedir(events);
    return found || !listed;
}

static void explain_no_counters(int reason) {
    fprintf(stderr, "litmus: not countable: ");
    if (reason == EACCES || reason == EPERM)
        fprintf(stderr, "the kernel does not let this user count. As root, run\n"
                        "    sysctl kernel.perf_event_paranoid=2\n"
                        "or run this program as root; a container needs CAP_PERFMON too.\n");
    else if (reason == ENOSYS)
        fprintf(stderr, "the system has no performance counters (perf_event_open: %s).\n"
                        "An emulator such as qemu-user runs the cases, but cannot count them.\n",
                strerror(reason));
    else
        fprintf(stderr, "this machine gives no hardware counters (%s).\n"
                        "Many virtual machines hide them: try a metal instance, or a size that "
                        "offers the PMU.\n",
                strerror(reason));
}

static void print_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void print_machine(FILE *out, const struct options *options, const struct memory *memory,
                          size_t counters) {
    char path[128], midr[64];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1",
             options->cpu);
    read_line(path, midr, sizeof midr);
    struct utsname name;
    memset(&name, 0, sizeof name);
    uname(&name);
    fprintf(out, "  \"machine\": {\n    \"midr\": ");
    print_string(out, midr);
    fprintf(out, ",\n    \"kernel\": ");
    print_string(out, name.release);
    fprintf(out, ",\n    \"cpu\": %d,\n    \"counters\": %zu,\n", options->cpu, counters);
    fprintf(out, "    \"page_bytes\": %ld,\n    \"huge_pages\": %s,\n    \"time\": %lld\n  },\n",
            sysconf(_SC_PAGESIZE), memory->has_blocks ? "true" : "false", (long long)time(NULL));
}

// Counts one group of events of one case. Returns false if it cannot be counted.
static int count_events(const struct litmus *litmus, const struct pmu *pmu,
                        const struct event *events, size_t size, void *memory,
                        const struct options *options, double *results) {
    struct group group;
    if (!open_group(&group, pmu, events, size))
        return 0;
    int good = 1;
    unsigned long rounds = COUNTED_TIMES * litmus->rounds;
    // The first run fills caches and predictors; it is not kept.
    for (int repeat = -1; good && repeat < options->repeats; repeat++) {
        uint64_t with[MOST_COUNTERS];
        good = count(&group, litmus->with, memory, rounds);
        memcpy(with, group.counts, sizeof with);
        good = good && count(&group, litmus->without, memory, rounds);
        for (size_t i = 0; good && repeat >= 0 && i < size; i++) {
            double difference = (double)(int64_t)(with[i] - group.counts[i]);
            results[i * MOST_REPEATS + (size_t)repeat] = difference / (double)rounds;
        }
    }
    close_group(&group);
    return good;
}

static void print_counts(FILE *out, const char *name, const double *results, int repeats,
                         int *is_first) {
    fprintf(out, "%s\n      \"%s\": [", *is_first ? "" : ",", name);
    for (int i = 0; i < repeats; i++)
        fprintf(out, "%s%.4g", i == 0 ? "" : ", ", results[i]);
    fputc(']', out);
    *is_first = 0;
}

static void print_case(FILE *out, const struct litmus *litmus, const struct pmu *pmu,
                       const struct event *events, size_t all, size_t counters, void *memory,
                       const struct options *options, double *results) {
    fprintf(out, "    {\"case\": ");
    print_string(out, litmus->id);
    fprintf(out, ", \"rounds\": %lu, \"counts\": {", COUNTED_TIMES * litmus->rounds);
    int is_first = 1;
    for (size_t at = 0; at < all; at += counters) {
        size_t size = all - at < counters ? all - at : counters;
        if (count_events(litmus, pmu, events + at, size, memory, options, results)) {
            for (size_t i = 0; i < size; i++)
                print_counts(out, events[at + i].name, results + i * MOST_REPEATS,
                             options->repeats, &is_first);
            continue;
        }
        // An event that this machine does not have spoils its group: count the others alone.
        for (size_t i = 0; i < size; i++)
            if (count_events(litmus, pmu, events + at + i, 1, memory, options, results))
                print_counts(out, events[at + i].name, results, options->repeats, &is_first);
    }
    fprintf(out, "\n    }}");
}

static sigjmp_buf before_trial;

static void leave_trial(int signal) {
    siglongjmp(before_trial, signal);
}

typedef void function(void *memory, unsigned long rounds);

// Runs two functions, or one, for one round. Returns the signal that ended them: an older core does
// not have all instructions.
static int try_functions(function *first, function *second, void *memory) {
    static const int SIGNALS[] = {SIGILL, SIGSEGV, SIGBUS};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        signal(SIGNALS[i], leave_trial);
    int ended_by = sigsetjmp(before_trial, 1);
    if (ended_by == 0) {
        first(memory, 1);
        if (second != NULL)
            second(memory, 1);
    }
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        signal(SIGNALS[i], SIG_DFL);
    return ended_by;
}

static int can_run(const char *id, function *first, function *second, void *memory) {
    int ended_by = try_functions(first, second, memory);
    if (ended_by != 0)
        fprintf(stderr, "litmus: '%s' cannot run on this machine: %s\n", id, strsignal(ended_by));
    return ended_by == 0;
}

static void run_uncounted(const struct litmus *litmus, void *memory, int repeats) {
    for (int repeat = -1; repeat < repeats; repeat++) {
        litmus->with(memory, litmus->rounds);
        litmus->without(memory, litmus->rounds);
    }
}

// Returns true if the memory of the case has pages of the size that its preparation needs.
static int has_pages(const struct litmus *litmus, const struct memory *memory) {
    if (litmus->small_pages)
        return sysconf(_SC_PAGESIZE) == 4096;
    return memory->has_blocks || !litmus->needs_blocks;
}

// Returns true if one of `parts`, which `|` separates, is in the name.
static int has_part(const char *name, const char *parts) {
    for (;;) {
        size_t length = strcspn(parts, "|");
        for (const char *at = name; strlen(at) >= length; at++)
            if (strncmp(at, parts, length) == 0)
                return 1;
        if (parts[length] == '\0')
            return 0;
        parts += length + 1;
    }
}

static int is_chosen(const char *id, const struct options *options) {
    return options->only == NULL || has_part(id, options->only);
}

// What counts, and where.
struct counting {
    const struct options *options;
    const struct tables *tables;
    const struct memory *memory;
    const struct pmu *pmu;
    // Events that the machine has: those of cases first.
    const struct event *events;
    size_t case_events;
    size_t all_events;
    // Counters of the machine; 0 if it counts nothing.
    size_t counters;
    // Counts of one group of events.
    double *results;
};

static void show_progress(size_t done, size_t all, const char *what) {
    if (isatty(2))
        fprintf(stderr, "\r%zu of %zu %s%s", done, all, what, done == all ? "\n" : "");
}

static void write_cases(FILE *out, const struct counting *counting) {
    const struct options *options = counting->options;
    int is_first = 1;
    size_t all = options->no_cases ? 0 : counting->tables->all_cases;
    for (size_t i = 0; i < all; i++) {
        const struct litmus *litmus = &counting->tables->cases[i];
        void *own = litmus->small_pages ? counting->memory->pages : counting->memory->blocks;
        show_progress(i + 1, all, "cases");
        if (!is_chosen(litmus->id, options) ||
            !can_run(litmus->id, litmus->with, litmus->without, own))
            continue;
        if (counting->counters == 0 || !has_pages(litmus, counting->memory)) {
            run_uncounted(litmus, own, 1);
            continue;
        }
        fprintf(out, "%s\n", is_first ? "" : ",");
        is_first = 0;
        print_case(out, litmus, counting->pmu, counting->events, counting->case_events,
                   counting->counters, own, options, counting->results);
    }
}

// ---- Kernels ----

#define CHAINS 16
#define SEED 16
#define WORDS 64

// Words of a kernel that outlive its calls: pointers into its cycle, a random number, and the place
// that a stream has reached. The functions of the kernels name it.
__attribute__((used)) uint64_t litmus_state[WORDS];

void litmus_touch(void *memory, unsigned long bytes, unsigned long distance);

// Returns the next of a sequence of random numbers, the same on every machine.
static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// Returns the pointer with this number. Those of neighboring pages are in different sets of caches.
static char *place(const struct kernel *kernel, char *memory, unsigned long number) {
    unsigned long line = kernel->distance >= 4096 ? number / 4 % 64 : 0;
    return memory + number * kernel->distance + line * 64;
}

// Links all pointers to one cycle in a random order. Returns false without memory.
static int link_cycle(const struct kernel *kernel, char *memory, uint64_t *seed) {
    unsigned long all = kernel->bytes / kernel->distance;
    uint32_t *order = malloc(all * sizeof *order);
    if (order == NULL)
        return 0;
    for (unsigned long i = 0; i < all; i++)
        order[i] = (uint32_t)i;
    for (unsigned long i = all - 1; i > 0; i--) {
        unsigned long other = (next_random(seed) >> 32) * (i + 1) >> 32;
        uint32_t swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (unsigned long i = 0; i < all; i++)
        *(void **)place(kernel, memory, order[i]) = place(kernel, memory, order[(i + 1) % all]);
    for (unsigned long i = 0; i < CHAINS; i++)
        litmus_state[i] = (uintptr_t)place(kernel, memory, order[i * all / CHAINS]);
    free(order);
    return 1;
}

static unsigned long mapped_bytes(const struct kernel *kernel) {
    return (kernel->bytes + BLOCK_BYTES - 1) & ~(BLOCK_BYTES - 1);
}

// Returns false if the kernel says that so much memory is not available.
static int is_available(unsigned long bytes) {
    FILE *file = fopen("/proc/meminfo", "r");
    if (file == NULL)
        return 1;
    char line[256];
    unsigned long kilobytes = ~0ul;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %lu", &kilobytes) == 1)
            break;
    fclose(file);
    return kilobytes >= (bytes + bytes / 4) >> 10;
}

// Maps and fills the memory of a kernel. Returns NULL if it cannot be had.
static void *prepare_kernel(const struct kernel *kernel, int *has_pages) {
    unsigned long bytes = mapped_bytes(kernel);
    *has_pages = 1;
    char *memory = NULL;
    if (kernel->needs_blocks)
        memory = map_blocks(bytes, has_pages);
    else if (is_available(bytes))
        memory = map(bytes, MADV_NOHUGEPAGE);
    if (memory == NULL)
        return NULL;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    memset(litmus_state, 0, sizeof litmus_state);
    for (unsigned long i = 0; kernel->bits && i < kernel->bytes; i++)
        memory[i] = (char)(next_random(&seed) >> 40 & 1);
    if (kernel->distance != 0 && !link_cycle(kernel, memory, &seed)) {
        munmap(memory, bytes);
        return NULL;
    }
    litmus_state[SEED] = seed;
    return memory;
}

static void touch(const struct kernel *kernel, void *memory) {
    if (kernel->touch != 0)
        litmus_touch(memory, kernel->bytes, kernel->touch);
}

// Rounds of a call of the other core.
#define PEER_ROUNDS 64
#define STACK_BYTES (64ul << 10)

// The other core of a kernel.
static struct {
    function *call;
    void *memory;
    int cpu;
    int runs;
    int ends;
    int ended;
} other;

static int run_other(void *unused) {
    (void)unused;
    if (other.cpu >= 0)
        run_on(other.cpu);
    __atomic_store_n(&other.runs, 1, __ATOMIC_RELEASE);
    do
        other.call(other.memory, PEER_ROUNDS);
    while (!__atomic_load_n(&other.ends, __ATOMIC_RELAXED));
    __atomic_store_n(&other.ended, 1, __ATOMIC_RELEASE);
    return 0;
}

// Starts the other core. Its thread is made without a library of threads, which some systems link
// only if they are asked to. Returns false if it does not run.
static int start_other(const struct kernel *kernel, void *memory, int cpu) {
    char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 0;
    other.call = kernel->peer;
    other.memory = memory;
    other.cpu = cpu;
    other.runs = other.ends = other.ended = 0;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (clone(run_other, stack + STACK_BYTES, flags, NULL) < 0)
        return 0;
    while (!__atomic_load_n(&other.runs, __ATOMIC_ACQUIRE))
        sched_yield();
    return 1;
}

// The stack stays: the thread may still leave its function.
static void end_other(void) {
    __atomic_store_n(&other.ends, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&other.ended, __ATOMIC_ACQUIRE))
        sched_yield();
}

// Counts one group of events of a kernel. Returns false if it cannot be counted.
static int count_kernel_events(const struct kernel *kernel, const struct counting *counting,
                               const struct event *events, size_t size, void *memory) {
    struct group group;
    if (!open_group(&group, counting->pmu, events, size))
        return 0;
    touch(kernel, memory);
    int good = 1;
    // The first run fills caches and predictors; it is not kept.
    for (int repeat = -1; good && repeat < counting->options->repeats; repeat++) {
        good = count(&group, kernel->call, memory, kernel->counted_rounds);
        for (size_t i = 0; good && repeat >= 0 && i < size; i++)
            counting->results[i * MOST_REPEATS + (size_t)repeat] =
                (double)group.counts[i] / (double)kernel->counted_rounds;
    }
    close_group(&group);
    return good;
}

static void print_kernel(FILE *out, const struct kernel *kernel, const struct counting *counting,
                         void *memory) {
    size_t counters = counting->counters, all = counting->all_events;
    fprintf(out, "    {\"kernel\": ");
    print_string(out, kernel->id);
    fprintf(out, ", \"rounds\": %lu, \"counts\": {", kernel->counted_rounds);
    int is_first = 1;
    for (size_t at = 0; at < all; at += counters) {
        const struct event *events = counting->events + at;
        size_t size = all - at < counters ? all - at : counters;
        int together = count_kernel_events(kernel, counting, events, size, memory);
        // An event that this machine does not have spoils its group: count the others alone.
        for (size_t i = 0; i < size; i++) {
            size_t result = together ? i : 0;
            if (together || count_kernel_events(kernel, counting, events + i, 1, memory))
                print_counts(out, events[i].name, counting->results + result * MOST_REPEATS,
                             counting->options->repeats, &is_first);
        }
    }
    fprintf(out, "\n    }}");
}

static void run_kernel_uncounted(const struct kernel *kernel, void *memory, int repeats) {
    for (int repeat = -1; repeat < repeats; repeat++)
        kernel->call(memory, kernel->rounds);
}

// Runs the chosen kernels; counts them if that is possible and `out` is given.
static void run_kernels(FILE *out, const struct counting *counting) {
    const struct options *options = counting->options;
    int is_first = 1;
    size_t all = options->no_kernels && options->no_pairs ? 0 : counting->tables->all_kernels;
    for (size_t i = 0; i < all; i++) {
        const struct kernel *kernel = &counting->tables->kernels[i];
        if (!options->replay)
            show_progress(i + 1, all, "kernels");
        if (!is_chosen(kernel->id, options) ||
            (kernel->peer == NULL ? options->no_kernels : options->no_pairs))
            continue;
        if (kernel->peer != NULL && out != NULL && counting->counters != 0 && options->peer_cpu < 0) {
            fprintf(stderr, "litmus: '%s' is left out: there is one processor\n", kernel->id);
            continue;
        }
        int has_own_pages;
        void *memory = prepare_kernel(kernel, &has_own_pages);
        if (memory == NULL) {
            fprintf(stderr, "litmus: '%s' is left out: no memory of %lu MiB\n", kernel->id,
                    mapped_bytes(kernel) >> 20);
            continue;
        }
        touch(kernel, memory);
        if (!can_run(kernel->id, kernel->call, NULL, memory)) {
            // The reason is printed.
        } else if (kernel->peer != NULL && !start_other(kernel, memory, options->peer_cpu)) {
            fprintf(stderr, "litmus: '%s' is left out: no second thread\n", kernel->id);
        } else if (out == NULL || counting->counters == 0) {
            run_kernel_uncounted(kernel, memory, options->replay ? options->repeats : 1);
        } else if (!has_own_pages) {
            fprintf(stderr, "litmus: '%s' is left out: no huge pages\n", kernel->id);
        } else {
            fprintf(out, "%s\n", is_first ? "" : ",");
            is_first = 0;
            print_kernel(out, kernel, counting, memory);
        }
        if (kernel->peer != NULL && other.runs)
            end_other();
        other.runs = 0;
        // In a recording, every kernel has addresses of its own, so that it finds none of its lines.
        if (options->replay)
            madvise(memory, mapped_bytes(kernel), MADV_DONTNEED);
        else
            munmap(memory, mapped_bytes(kernel));
    }
}

// ---- The result ----

// Writes the result. Returns false if a write failed.
static int write_result(FILE *out, const struct counting *counting) {
    fprintf(out, "{\n  \"format\": \"n2sim litmus 1\",\n  \"program\": \"%s\",\n",
            counting->tables->program);
    fprintf(out, "  \"kernel_program\": \"%s\",\n", counting->tables->kernel_program);
    print_machine(out, counting->options, counting->memory, counting->counters);
    fprintf(out, "  \"cases\": [");
    write_cases(out, counting);
    fprintf(out, "\n  ],\n  \"kernels\": [");
    run_kernels(out, counting);
    fprintf(out, "\n  ]\n}\n");
    return fflush(out) == 0 && !ferror(out);
}

// The file that is being written; empty if there is none.
static char unfinished[4096];

static void remove_unfinished(int number) {
    unlink(unfinished);
    signal(number, SIG_DFL);
    raise(number);
}

// Writes the result into a file that gets its name when it is complete.
static int write_file(const struct counting *counting) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
    const char *output = counting->options->output;
    if (output == NULL)
        return write_result(stdout, counting);
    struct stat status;
    // A device or a pipe stays what it is.
    if (stat(output, &status) == 0 && !S_ISREG(status.st_mode)) {
        FILE *device = fopen(output, "w");
        return device != NULL && (write_result(device, counting) & (fclose(device) == 0));
    }
    int length = snprintf(unfinished, sizeof unfinished, "%s.part", output);
    if (length < 0 || (size_t)length >= sizeof unfinished) {
        errno = ENAMETOOLONG;
        return 0;
    }
    FILE *out = fopen(unfinished, "w");
    if (out == NULL)
        return 0;
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        signal(SIGNALS[i], remove_unfinished);
    int good = write_result(out, counting);
    good = fclose(out) == 0 && good;
    good = good && rename(unfinished, output) == 0;
    int reason = errno;
    if (!good)
        unlink(unfinished);
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        signal(SIGNALS[i], SIG_DFL);
    errno = reason;
    return good;
}

// Notes which cases are left out because of the pages.
static void note_pages(const struct memory *memory) {
    if (!memory->has_blocks)
        fprintf(stderr, "litmus: no huge pages: cases that prepare caches are left out. As root, run\n"
                        "    sysctl vm.nr_hugepages=160\n");
    if (sysconf(_SC_PAGESIZE) != 4096)
        fprintf(stderr, "litmus: pages of %ld bytes: cases about TLBs need 4096 and are left out\n",
                sysconf(_SC_PAGESIZE));
}

// Returns the number of counters, found with the first case that runs here.
static size_t counters_of(const struct counting *counting) {
    for (size_t i = 0; i < counting->tables->all_cases; i++) {
        const struct litmus *litmus = &counting->tables->cases[i];
        void *memory = counting->memory->pages;
        if (try_functions(litmus->with, litmus->without, memory) == 0)
            return find_counters(counting->pmu, counting->events, counting->all_events, litmus,
                                 memory);
    }
    errno = ENOEXEC;
    return 0;
}

static void replay(const struct counting *counting) {
    const struct options *options = counting->options;
    size_t all = options->no_cases ? 0 : counting->tables->all_cases;
    for (size_t i = 0; i < all; i++) {
        const struct litmus *litmus = &counting->tables->cases[i];
        void *own = litmus->small_pages ? counting->memory->pages : counting->memory->blocks;
        if (is_chosen(litmus->id, options) &&
            can_run(litmus->id, litmus->with, litmus->without, own))
            run_uncounted(litmus, own, options->repeats);
    }
    run_kernels(NULL, counting);
}

// Returns the exit code.
static int count_all(struct counting *counting, struct event *events) {
    const struct tables *tables = counting->tables;
    for (size_t i = 0; i < tables->all_events; i++) {
        if (!has_event(counting->pmu, tables->events[i].code))
            continue;
        events[counting->all_events++] = tables->events[i];
        counting->case_events += (size_t)tables->events[i].in_cases;
    }
    counting->events = events;
    counting->counters = counters_of(counting);
    if (counting->counters == 0)
        explain_no_counters(errno);
    else
        note_pages(counting->memory);
    const char *output = counting->options->output;
    if (!write_file(counting)) {
        fprintf(stderr, "litmus: cannot write %s: %s\n", output == NULL ? "the result" : output,
                strerror(errno));
        return 1;
    }
    return counting->counters == 0 ? 3 : 0;
}

static int run(int argc, char **argv, const struct tables *tables) {
    struct options options = {NULL, NULL, 0, 0, 0, -1, -1, 5, 0};
    int wrong = read_options(argc, argv, &options);
    if (wrong)
        return wrong;
    struct memory memory = {NULL, NULL, 0};
    if (!map_memory(&memory, tables->bytes)) {
        fprintf(stderr, "litmus: no memory for the cases (%lu MiB): %s\n", 2 * tables->bytes >> 20,
                strerror(errno));
        return 1;
    }
    write_code(memory.pages);
    write_code(memory.blocks);
    struct counting counting = {&options, tables, &memory, NULL, NULL, 0, 0, 0, NULL};
    if (options.replay) {
        replay(&counting);
        return 0;
    }
    if (!pin(&options)) {
        fprintf(stderr, "litmus: cannot run on processor %d: %s\n", options.cpu, strerror(errno));
        return 1;
    }
    struct pmu pmu = find_pmu(options.cpu);
    counting.pmu = &pmu;
    struct event *events = calloc(tables->all_events, sizeof *events);
    counting.results = calloc(MOST_COUNTERS * MOST_REPEATS, sizeof *counting.results);
    if (events == NULL || counting.results == NULL) {
        fprintf(stderr, "litmus: no memory for the counts\n");
        return 1;
    }
    int code = count_all(&counting, events);
    free(counting.results);
    free(events);
    return code;
}
