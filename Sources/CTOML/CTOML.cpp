#include "CTOML.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <deque>
#include <new>
#include <sstream>
#include <string>
#include <vector>

struct chute_toml_document {
    std::string message;
    uint32_t line = 0, column = 0;
    std::vector<chute_toml_node> nodes;
    std::deque<std::string> texts;  // a deque: its strings stay where they are

    const std::string &keep(std::string text) { return texts.emplace_back(std::move(text)); }

    void add(const toml::node &value, const toml::key *key) {
        chute_toml_node node{};
        node.line = value.source().begin.line;
        node.column = value.source().begin.column;
        if (key) {
            const auto &name = keep(std::string(key->str()));
            node.key = name.data();
            node.key_length = name.size();
            node.key_line = key->source().begin.line;
            node.key_column = key->source().begin.column;
        }
        if (auto table = value.as_table()) {
            node.kind = CHUTE_TOML_TABLE;
            node.children = table->size();
            nodes.push_back(node);
            for (auto &&[name, inner] : *table) add(inner, &name);
            return;
        }
        if (auto array = value.as_array()) {
            node.kind = CHUTE_TOML_ARRAY;
            node.children = array->size();
            nodes.push_back(node);
            for (auto &&inner : *array) add(inner, nullptr);
            return;
        }
        if (auto string = value.as_string()) {
            node.kind = CHUTE_TOML_STRING;
            set_text(node, string->get());
        } else if (auto integer = value.as_integer()) {
            node.kind = CHUTE_TOML_INTEGER;
            node.integer = integer->get();
        } else if (auto real = value.as_floating_point()) {
            node.kind = CHUTE_TOML_REAL;
            node.real = real->get();
        } else if (auto boolean = value.as_boolean()) {
            node.kind = CHUTE_TOML_BOOLEAN;
            node.integer = boolean->get();
        } else {
            node.kind = CHUTE_TOML_TIME;
            std::ostringstream stream;
            if (auto date = value.as_date()) stream << *date;
            else if (auto time = value.as_time()) stream << *time;
            else if (auto both = value.as_date_time()) stream << *both;
            set_text(node, stream.str());
        }
        nodes.push_back(node);
    }

    void set_text(chute_toml_node &node, std::string text) {
        const auto &kept = keep(std::move(text));
        node.text = kept.data();
        node.text_length = kept.size();
    }
};

extern "C" chute_toml_document *chute_toml_parse(const char *text, size_t length) {
    auto document = new (std::nothrow) chute_toml_document;
    if (!document) return nullptr;
    toml::parse_result result = toml::parse(std::string_view(text, length));
    if (result) {
        document->add(result.table(), nullptr);
    } else {
        document->message = std::string(result.error().description());
        if (document->message.empty()) document->message = "not TOML";
        document->line = result.error().source().begin.line;
        document->column = result.error().source().begin.column;
    }
    return document;
}

extern "C" void chute_toml_free(chute_toml_document *document) { delete document; }

extern "C" const char *chute_toml_error(const chute_toml_document *document, uint32_t *line, uint32_t *column) {
    if (document->message.empty()) return nullptr;
    *line = document->line;
    *column = document->column;
    return document->message.c_str();
}

extern "C" const chute_toml_node *chute_toml_nodes(const chute_toml_document *document, size_t *count) {
    *count = document->nodes.size();
    return document->nodes.data();
}
