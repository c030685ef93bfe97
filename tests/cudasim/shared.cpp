// Where the shared memory of a kernel lies.
//
// A __shared__ variable is a static of its function, so it is a local symbol
// _ZZ<kernel>E<variable> of the program, in memory without initial content.
// Knowing these, every block begins with junk there, and their size is known.
// The program must not be stripped.
#include "sim.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace cudasim
{

unsigned char *dynamic_shared;

namespace
{
const size_t DYNAMIC_BYTES = 228 << 10;
unsigned char *dynamic_region;

std::string read_file(const char *path)
{
    std::string text;
    FILE *f = fopen(access(path, R_OK) == 0 ? path : "/proc/self/exe", "rb");
    if (!f)
        return text;
    char buffer[65536];
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
        text.append(buffer, n);
    fclose(f);
    return text;
}

struct symbol {
    std::string name;
    int type;
    unsigned char *address;
    size_t bytes;
    bool no_content; // in a section that is not in the file
};

std::vector<symbol> read_symbols(const Dl_info &module)
{
    std::vector<symbol> all;
    std::string file = read_file(module.dli_fname);
    if (file.size() < sizeof(Elf64_Ehdr))
        return all;
    auto *head = reinterpret_cast<const Elf64_Ehdr *>(file.data());
    auto *section =
        reinterpret_cast<const Elf64_Shdr *>(file.data() + head->e_shoff);
    unsigned char *base = nullptr;
    if (head->e_type != ET_EXEC)
        base = static_cast<unsigned char *>(module.dli_fbase);
    for (int s = 0; s < head->e_shnum; s++) {
        if (section[s].sh_type != SHT_SYMTAB)
            continue;
        auto *table = reinterpret_cast<const Elf64_Sym *>(file.data() +
                                                          section[s].sh_offset);
        const char *names = file.data() + section[section[s].sh_link].sh_offset;
        for (size_t k = 0; k < section[s].sh_size / sizeof *table; k++) {
            const Elf64_Sym &t = table[k];
            bool no_content = t.st_shndx < head->e_shnum &&
                              section[t.st_shndx].sh_type == SHT_NOBITS;
            all.push_back({names + t.st_name, ELF64_ST_TYPE(t.st_info),
                           base + t.st_value, t.st_size, no_content});
        }
    }
    return all;
}

const std::vector<symbol> &symbols_of(const Dl_info &module)
{
    static auto &known = *new std::map<std::string, std::vector<symbol>>;
    auto found = known.find(module.dli_fname);
    if (found == known.end())
        found = known.emplace(module.dli_fname, read_symbols(module)).first;
    return found->second;
}

kernel_facts find_facts(const void *kernel)
{
    kernel_facts facts;
    Dl_info module;
    if (!dladdr(kernel, &module))
        return facts;
    const std::vector<symbol> &all = symbols_of(module);
    std::string prefix;
    for (const symbol &s : all)
        if (s.type == STT_FUNC && s.address == kernel &&
            s.name.compare(0, 2, "_Z") == 0)
            prefix = "_ZZ" + s.name.substr(2) + "E";
    if (prefix.empty())
        return facts;
    for (const symbol &s : all)
        if (s.type == STT_OBJECT && s.no_content &&
            s.name.compare(0, prefix.size(), prefix) == 0) {
            facts.shared.push_back({s.address, s.bytes});
            facts.static_bytes += s.bytes;
        }
    return facts;
}
} // namespace

kernel_facts &facts_of(const void *kernel)
{
    static auto &known = *new std::map<const void *, kernel_facts>;
    auto found = known.find(kernel);
    if (found == known.end())
        found = known.emplace(kernel, find_facts(kernel)).first;
    return found->second;
}

void prepare_dynamic_shared(size_t bytes)
{
    if (!dynamic_region) {
        void *p = mmap(nullptr, DYNAMIC_BYTES + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            device_error("no memory for dynamic shared memory");
        dynamic_region = static_cast<unsigned char *>(p);
        mprotect(dynamic_region + DYNAMIC_BYTES, PAGE, PROT_NONE);
    }
    // It ends at the guard page, as near as its alignment lets it.
    dynamic_shared = dynamic_region + DYNAMIC_BYTES - (bytes + 15) / 16 * 16;
    WITH_ASAN(__asan_poison_memory_region(dynamic_region, DYNAMIC_BYTES));
    WITH_ASAN(__asan_unpoison_memory_region(dynamic_shared, bytes));
}

unsigned char *dynamic_shared_end()
{
    return dynamic_region ? dynamic_region + DYNAMIC_BYTES : nullptr;
}

} // namespace cudasim
