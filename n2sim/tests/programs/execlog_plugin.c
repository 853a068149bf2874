/* A plugin of QEMU (interface version 1) that prints what QEMU's own `execlog` prints, in user mode:
 *
 *   CPU, 0xADDRESS, 0xWORD, "disassembly"[, load|store, 0xADDRESS]...
 *
 * A line is written when the next instruction of its processor begins. The declarations are those of the
 * documented interface, so that no header of QEMU is needed:
 *
 *   cc -shared -fPIC -o execlog.so execlog_plugin.c
 *   qemu-aarch64 -plugin ./execlog.so -d plugin -D program.execlog ./program
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct block;
struct insn;
typedef uint32_t mem_info;

extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct block *));
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_vcpu_mem_cb(struct insn *, void (*)(unsigned, mem_info, uint64_t, void *),
                                             int flags, int which, void *);
extern size_t qemu_plugin_tb_n_insns(const struct block *);
extern struct insn *qemu_plugin_tb_get_insn(const struct block *, size_t);
extern uint64_t qemu_plugin_insn_vaddr(const struct insn *);
extern const void *qemu_plugin_insn_data(const struct insn *);
extern char *qemu_plugin_insn_disas(const struct insn *);
extern bool qemu_plugin_mem_is_store(mem_info);
extern void qemu_plugin_outs(const char *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3, PROCESSORS = 64, LINE = 4096 };

static char lines[PROCESSORS][LINE];

static void add(unsigned processor, const char *text) {
    char *line = lines[processor % PROCESSORS];
    size_t used = strlen(line);
    snprintf(line + used, LINE - used, "%s", text);
}

static void end_line(unsigned processor) {
    char *line = lines[processor % PROCESSORS];
    if (*line == 0) return;
    add(processor, "\n");
    qemu_plugin_outs(line);
    *line = 0;
}

static void executed(unsigned processor, void *text) {
    end_line(processor);
    char number[16];
    snprintf(number, sizeof number, "%u, ", processor);
    add(processor, number);
    add(processor, text);
}

static void accessed(unsigned processor, mem_info info, uint64_t address, void *none) {
    (void)none;
    char text[48];
    snprintf(text, sizeof text, ", %s, 0x%08" PRIx64, qemu_plugin_mem_is_store(info) ? "store" : "load", address);
    add(processor, text);
}

static void translated(plugin_id id, struct block *block) {
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct insn *insn = qemu_plugin_tb_get_insn(block, i);
        uint32_t word;
        memcpy(&word, qemu_plugin_insn_data(insn), sizeof word);
        char *disassembly = qemu_plugin_insn_disas(insn), *text = malloc(256);
        snprintf(text, 256, "0x%" PRIx64 ", 0x%" PRIx32 ", \"%s\"", qemu_plugin_insn_vaddr(insn), word, disassembly);
        free(disassembly);
        qemu_plugin_register_vcpu_mem_cb(insn, accessed, NO_REGISTERS, LOADS_AND_STORES, NULL);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, NO_REGISTERS, text);
    }
}

static void at_exit(plugin_id id, void *none) {
    (void)id, (void)none;
    for (unsigned processor = 0; processor < PROCESSORS; processor++) end_line(processor);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const void *info, int n, char **args) {
    (void)info, (void)n, (void)args;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, at_exit, NULL);
    return 0;
}
