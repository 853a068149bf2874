// Counts small cases with the performance counters of this machine.
//
//     cc -O1 -o litmus litmus.c        any gcc or clang for AArch64 Linux, no libraries
//     ./litmus -o result.json          needs counters for user mode (perf)
//
// Each case has two functions: one prepares caches and TLBs and then runs the steps of the case,
// the other prepares alike and leaves the steps out. The difference of their counts, divided by the
// number of rounds, is what the steps count. Every event is counted in a group of as many events as
// the machine has counters, so that no count is an estimate, and several times.

#if !defined(__aarch64__) || !defined(__linux__)
#error "this program is for AArch64 Linux: compile it there, or with a compiler for it"
#endif

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
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES (2ul << 20)
// Lines of the cases, which code can be fetched from.
#define CODE_BYTES (4ul << 20)
// A counted loop has this many times the rounds of a recorded one.
#define COUNTED_TIMES 8
#define MOST_COUNTERS 31
#define MOST_REPEATS 1000

struct event {
    const char *name;
    unsigned code;
};

struct litmus {
    const char *id;
    void (*with)(void *memory, unsigned long rounds);
    void (*without)(void *memory, unsigned long rounds);
    unsigned long rounds;
    int small_pages;
    int needs_blocks;
};

struct options {
    const char *output;
    const char *only;
    const char *program;
    int cpu;
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
    "usage: litmus [-o FILE] [--cpu N] [--repeats N] [--case TEXT] [--replay]\n"
    "  -o FILE      write the result there (default: standard output)\n"
    "  --cpu N      run on this processor (default: the first one allowed)\n"
    "  --repeats N  count every event this often (default: 5, at most 1000)\n"
    "  --case TEXT  only cases with TEXT in their name\n"
    "  --replay     run every case without counting, for a recording\n";

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
    return 0;
}

// Keeps this program on one processor. Returns false if it cannot.
static int pin(struct options *options) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    if (options->cpu < 0) {
        options->cpu = 0;
        while (options->cpu < CPU_SETSIZE - 1 && !CPU_ISSET(options->cpu, &allowed))
            options->cpu++;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(options->cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
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

static int map_memory(struct memory *memory, unsigned long bytes) {
    memory->pages = map(bytes, MADV_NOHUGEPAGE);
    void *huge = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
    if (huge != MAP_FAILED && (uintptr_t)huge % BLOCK_BYTES == 0) {
        memory->blocks = huge;
        memory->has_blocks = 1;
    } else {
        memory->blocks = map(bytes, MADV_HUGEPAGE);
        memory->has_blocks = memory->blocks != NULL && is_in_blocks(memory->blocks, bytes);
    }
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

// Runs a case for one round. Returns the signal that ended it: an older core does not have all
// instructions.
static int try_case(const struct litmus *litmus, void *memory) {
    static const int SIGNALS[] = {SIGILL, SIGSEGV, SIGBUS};
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        signal(SIGNALS[i], leave_trial);
    int ended_by = sigsetjmp(before_trial, 1);
    if (ended_by == 0) {
        litmus->with(memory, 1);
        litmus->without(memory, 1);
    }
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
        signal(SIGNALS[i], SIG_DFL);
    return ended_by;
}

static int can_run(const struct litmus *litmus, void *memory) {
    int ended_by = try_case(litmus, memory);
    if (ended_by != 0)
        fprintf(stderr, "litmus: '%s' cannot run on this machine: %s\n", litmus->id,
                strsignal(ended_by));
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

static int is_chosen(const struct litmus *litmus, const struct options *options) {
    return options->only == NULL || has_part(litmus->id, options->only);
}

// Writes the result. Returns false if a write failed.
static int write_result(FILE *out, const struct options *options, const struct memory *memory,
                        const struct pmu *pmu, const struct event *events, size_t all_events, const struct litmus *cases,
                        size_t all_cases, size_t counters) {
    double *results = calloc(MOST_COUNTERS * MOST_REPEATS, sizeof *results);
    if (results == NULL)
        return 0;
    fprintf(out, "{\n  \"format\": \"n2sim litmus 1\",\n  \"program\": \"%s\",\n",
            options->program);
    print_machine(out, options, memory, counters);
    fprintf(out, "  \"cases\": [");
    int is_first = 1;
    for (size_t i = 0; i < all_cases; i++) {
        const struct litmus *litmus = &cases[i];
        void *own = litmus->small_pages ? memory->pages : memory->blocks;
        if (!is_chosen(litmus, options))
            continue;
        if (!can_run(litmus, own))
            continue;
        if (counters == 0 || !has_pages(litmus, memory)) {
            run_uncounted(litmus, own, 1);
            continue;
        }
        fprintf(out, "%s\n", is_first ? "" : ",");
        is_first = 0;
        print_case(out, litmus, pmu, events, all_events, counters, own, options, results);
        if (isatty(2))
            fprintf(stderr, "\r%zu of %zu cases", i + 1, all_cases);
    }
    if (isatty(2))
        fprintf(stderr, "\n");
    fprintf(out, "\n  ]\n}\n");
    free(results);
    return fflush(out) == 0 && !ferror(out);
}

// Writes the result into a file that gets its name when it is complete.
static int write_file(const struct options *options, const struct memory *memory,
                      const struct pmu *pmu, const struct event *events, size_t all_events, const struct litmus *cases,
                      size_t all_cases, size_t counters) {
    if (options->output == NULL)
        return write_result(stdout, options, memory, pmu, events, all_events, cases, all_cases,
                            counters);
    char path[4096];
    int length = snprintf(path, sizeof path, "%s.part", options->output);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return 0;
    }
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return 0;
    int good =
        write_result(out, options, memory, pmu, events, all_events, cases, all_cases, counters);
    good = fclose(out) == 0 && good;
    good = good && rename(path, options->output) == 0;
    if (!good) {
        int reason = errno;
        unlink(path);
        errno = reason;
    }
    return good;
}

// Notes which cases are left out because of the pages.
static void note_pages(const struct memory *memory) {
    if (!memory->has_blocks)
        fprintf(stderr, "litmus: no huge pages: cases that prepare caches are left out. As root, run\n"
                        "    sysctl vm.nr_hugepages=64\n");
    if (sysconf(_SC_PAGESIZE) != 4096)
        fprintf(stderr, "litmus: pages of %ld bytes: cases about TLBs need 4096 and are left out\n",
                sysconf(_SC_PAGESIZE));
}

// Returns the number of counters, found with the first case that runs here.
static size_t counters_of(const struct pmu *pmu, const struct event *events, size_t all_events,
                          const struct litmus *cases, size_t all_cases,
                          const struct memory *memory) {
    for (size_t i = 0; i < all_cases; i++)
        if (try_case(&cases[i], memory->pages) == 0)
            return find_counters(pmu, events, all_events, &cases[i], memory->pages);
    errno = ENOEXEC;
    return 0;
}

static int run(int argc, char **argv, const struct event *all, size_t all_events,
               const struct litmus *cases, size_t all_cases, const char *program,
               unsigned long bytes) {
    struct options options = {NULL, NULL, program, -1, 5, 0};
    int wrong = read_options(argc, argv, &options);
    if (wrong)
        return wrong;
    struct memory memory = {NULL, NULL, 0};
    if (!map_memory(&memory, bytes)) {
        fprintf(stderr, "litmus: no memory for the cases (%lu MiB): %s\n", 2 * bytes >> 20,
                strerror(errno));
        return 1;
    }
    write_code(memory.pages);
    write_code(memory.blocks);
    if (options.replay) {
        for (size_t i = 0; i < all_cases; i++) {
            void *own = cases[i].small_pages ? memory.pages : memory.blocks;
            if (is_chosen(&cases[i], &options) && can_run(&cases[i], own))
                run_uncounted(&cases[i], own, options.repeats);
        }
        return 0;
    }
    if (!pin(&options)) {
        fprintf(stderr, "litmus: cannot run on processor %d: %s\n", options.cpu, strerror(errno));
        return 1;
    }
    struct pmu pmu = find_pmu(options.cpu);
    struct event *events = calloc(all_events, sizeof *events);
    size_t known = 0;
    for (size_t i = 0; events != NULL && i < all_events; i++)
        if (has_event(&pmu, all[i].code))
            events[known++] = all[i];
    size_t counters = counters_of(&pmu, events, known, cases, all_cases, &memory);
    if (counters == 0)
        explain_no_counters(errno);
    else
        note_pages(&memory);
    if (!write_file(&options, &memory, &pmu, events, known, cases, all_cases, counters)) {
        fprintf(stderr, "litmus: cannot write %s: %s\n",
                options.output == NULL ? "the result" : options.output, strerror(errno));
        return 1;
    }
    free(events);
    return counters == 0 ? 3 : 0;
}
