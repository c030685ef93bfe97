// The one file that knows the TOML library: from its tree to ours.

// Some wrong decks meet an assertion of the library instead of an error. It
// must not end the process, so it is an exception here, caught in
// deck_toml_parse(); with NDEBUG the library would turn assertions into
// assumptions.
#undef NDEBUG
namespace deck_toml
{
struct assertion {
};
constexpr void check(bool held)
{
    if (!held)
        throw assertion{};
}
} // namespace deck_toml
#define TOML_ASSERT(expr) ::deck_toml::check(static_cast<bool>(expr))

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 32 // DECK_DEPTH_MAX

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "base/deck_toml.h"

namespace
{

static_assert(TOML_MAX_NESTED_VALUES == DECK_DEPTH_MAX,
              "one limit, said twice");

// Ends a conversion that ran too deep; caught in deck_toml_parse().
struct too_deep {
    deck_place place;
};

deck_place place_of(const toml::source_position &p)
{
    deck_place place = {};
    place.line = static_cast<int>(p.line);
    place.column = static_cast<int>(p.column);
    return place;
}

char *copy(std::string_view text)
{
    char *s = static_cast<char *>(std::malloc(text.size() + 1));
    if (s == nullptr)
        throw std::bad_alloc();
    std::memcpy(s, text.data(), text.size());
    s[text.size()] = '\0';
    return s;
}

void append(deck_node *parent, deck_node *child)
{
    if (parent->last != nullptr)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

void set_text(deck_node *node, std::string_view text)
{
    node->text = copy(text);
    node->length = text.size();
}

template <typename T> std::string printed(const T &value)
{
    std::ostringstream out;
    out << value;
    return out.str();
}

void fill(deck_node *node, const toml::node &value, int depth);

deck_node *new_node()
{
    void *memory = std::calloc(1, sizeof(deck_node));
    if (memory == nullptr)
        throw std::bad_alloc();
    return static_cast<deck_node *>(memory);
}

void fill_table(deck_node *node, const toml::table &table, int depth)
{
    struct entry {
        const toml::key *key;
        const toml::node *value;
    };
    std::vector<entry> entries;

    // the library sorts keys by name; we want the order of the text
    for (auto &&[key, value] : table)
        entries.push_back({&key, &value});
    std::stable_sort(entries.begin(), entries.end(),
                     [](const entry &a, const entry &b) {
                         return a.key->source().begin < b.key->source().begin;
                     });
    for (const entry &e : entries) {
        deck_node *child = new_node();
        append(node, child);
        child->key = copy(e.key->str());
        child->key_place = place_of(e.key->source().begin);
        fill(child, *e.value, depth + 1);
    }
}

void fill_array(deck_node *node, const toml::array &array, int depth)
{
    node->is_tables = !array.empty();
    for (const toml::node &value : array) {
        deck_node *child = new_node();
        append(node, child);
        fill(child, value, depth + 1);
        child->key_place = child->place;
        if (child->kind != DECK_TABLE)
            node->is_tables = 0;
    }
}

void fill(deck_node *node, const toml::node &value, int depth)
{
    node->place = place_of(value.source().begin);
    if (depth > DECK_DEPTH_MAX)
        throw too_deep{node->place};
    if (const auto *b = value.as_boolean()) {
        node->kind = DECK_BOOL;
        node->integer = b->get() ? 1 : 0;
    } else if (const auto *i = value.as_integer()) {
        node->kind = DECK_INT;
        node->integer = i->get();
    } else if (const auto *d = value.as_floating_point()) {
        node->kind = DECK_DOUBLE;
        node->number = d->get();
    } else if (const auto *s = value.as_string()) {
        node->kind = DECK_STRING;
        set_text(node, s->get());
    } else if (const auto *t = value.as_table()) {
        node->kind = DECK_TABLE;
        fill_table(node, *t, depth);
    } else if (const auto *a = value.as_array()) {
        node->kind = DECK_ARRAY;
        fill_array(node, *a, depth);
    } else {
        node->kind = DECK_DATETIME;
        if (const auto *date = value.as_date())
            set_text(node, printed(date->get()));
        else if (const auto *time = value.as_time())
            set_text(node, printed(time->get()));
        else if (const auto *both = value.as_date_time())
            set_text(node, printed(both->get()));
    }
}

void set_error(deck_toml_error *error, deck_place place, const char *text)
{
    error->line = place.line;
    error->column = place.column;
    std::snprintf(error->text, sizeof error->text, "%s", text);
}

// The end of the string that starts at `i`, one past its closing quote; a
// string that is not closed ends with its line or the text.
size_t string_end(std::string_view text, size_t i)
{
    const char quote = text[i];
    const bool escapes = quote == '"';
    const std::string three(3, quote);
    const bool lines = text.compare(i, 3, three) == 0;

    for (i += lines ? 3 : 1; i < text.size(); i++) {
        if (escapes && text[i] == '\\')
            i++;
        else if (lines && text.compare(i, 3, three) == 0)
            return i + 3;
        else if (!lines && (text[i] == quote || text[i] == '\n'))
            return i + 1;
    }
    return text.size();
}

// Keys of very many dotted parts would make tables nested so deep that the
// library's own destructors overflow the stack, so they are refused before it
// sees them. Counts the dots of whatever one dotted key may be made of.
bool dotted_key_too_deep(std::string_view text, deck_place *place)
{
    int dots = 0;

    for (size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            i = string_end(text, i);
            continue;
        }
        if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (c == '.' && ++dots > DECK_DEPTH_MAX) {
            const std::string_view before = text.substr(0, i);
            const size_t start = before.rfind('\n') + 1; // npos + 1 is 0
            place->line = static_cast<int>(
                1 + std::count(before.begin(), before.end(), '\n'));
            place->column = static_cast<int>(i - start + 1);
            return true;
        }
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' &&
            c != '_' && c != '-' && c != ' ' && c != '\t')
            dots = 0;
        i++;
    }
    return false;
}

bool meets_assertion(std::string_view text)
{
    try {
        (void)toml::parse(text);
    } catch (const deck_toml::assertion &) {
        return true;
    }
    return false;
}

// The line that brings the assertion about: the last one of the shortest piece
// of the text, in whole lines, that does.
int line_of_assertion(std::string_view text)
{
    std::vector<size_t> ends; // of each line
    for (size_t i = 0; i < text.size(); i++)
        if (text[i] == '\n')
            ends.push_back(i + 1);
    size_t low = 0, high = ends.size();
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (meets_assertion(text.substr(0, ends[middle])))
            high = middle;
        else
            low = middle + 1;
    }
    return static_cast<int>(low + 1);
}

// The root, or NULL and the error; may throw.
deck_node *parse(std::string_view text, deck_toml_error *error)
{
    deck_place place = {};
    deck_node *root = nullptr;

    if (dotted_key_too_deep(text, &place)) {
        set_error(error, place, "a key of too many dotted parts");
        return nullptr;
    }
    try {
        toml::parse_result result = toml::parse(text);
        if (!result) {
            const toml::parse_error &e = result.error();
            set_error(error, place_of(e.source().begin),
                      std::string{e.description()}.c_str());
            return nullptr;
        }
        root = new_node();
        fill(root, result.table(), 0);
        return root;
    } catch (const too_deep &deep) {
        set_error(error, deep.place, "nested too deep");
    } catch (const deck_toml::assertion &) {
        place.line = line_of_assertion(text);
        place.column = 1;
        set_error(error, place, "this line is not TOML");
    } catch (...) {
        deck_node_destroy(root);
        throw;
    }
    deck_node_destroy(root);
    return nullptr;
}

} // namespace

extern "C" struct deck_node *deck_toml_parse(const char *text, size_t n,
                                             struct deck_toml_error *error)
{
    *error = {};
    try {
        return parse({text, n}, error);
    } catch (const std::bad_alloc &) {
        error->no_memory = 1;
        set_error(error, {}, "out of memory");
    } catch (...) {
        set_error(error, {}, "the deck could not be parsed");
    }
    return nullptr;
}
