// A split region described to a device (packed.h): the host keeps the box, the device has terms, trees and tables.
#pragma once
#include "packed.h"
#include "slopes.h"

namespace INFIMUM_NAMESPACE {

class Packing {
    std::vector<unsigned char> bytes_;
    std::vector<std::vector<int64_t>> left_out_;  // of each family: the terms that its tree was last reduced without

  public:
    const std::vector<unsigned char> &bytes() const { return bytes_; }

    // Describe the region that the box is; the variables that changed count as told.
    infimum_tables pack(Box &box, const Split &s, const std::vector<int> &position, std::vector<Family> &families,
                 std::vector<Slopes> &slopes, bool masked, const double *extra_lo, const double *extra_hi) {
        std::vector<Shape> shapes(families.size());
        bool stages = !families.empty() && s.count() <= MOST_SPLIT;
        for (size_t i = 0; stages && i < families.size(); i++) stages = families[i].shape(s, position, shapes[i]);
        if (!stages) return INFIMUM_TABLES_NONE;
        left_out_.resize(families.size());
        bytes_.clear();
        Packed head = {};
        put(head);
        head.split = static_cast<int>(s.count());
        head.parts = s.parts;
        while (1 << head.digit_bits < head.parts) head.digit_bits++;
        head.families = static_cast<int>(families.size());
        std::vector<PackedFamily> packed(families.size());
        changes(box, families, shapes, head, packed);
        head.shape = next_offset();
        head.variables = all<int>(s.variables);
        head.edges = all<double>(s.edges);
        for (size_t i = 0; i < shapes.size(); i++) terms(shapes[i], head, packed[i]);
        head.family = all<PackedFamily>(packed);
        const bool complete = masked && components(s, position, slopes, extra_lo, extra_hi, head);
        head.bytes = next_offset();
        std::memcpy(bytes_.data(), &head, sizeof head);
        box.clear_stale();
        return complete ? INFIMUM_TABLES_COMPLETE : INFIMUM_TABLES_PARTIAL;
    }

  private:
    int next_offset() {
        while (bytes_.size() % 16) bytes_.push_back(0);
        return static_cast<int>(bytes_.size());
    }
    template <class T>
    void put(const T &value) {
        const size_t start = bytes_.size();
        bytes_.resize(start + sizeof(T));
        std::memcpy(bytes_.data() + start, &value, sizeof(T));
    }
    template <class T, class From>
    int all(const std::vector<From> &values) {
        const int start = next_offset();
        for (const From &value : values) put(static_cast<T>(value));
        return start;
    }
    // What is to be evaluated and folded again: terms of changed variables; chunks of those, and of terms left out last time
    // or now.
    void changes(const Box &box, std::vector<Family> &families, const std::vector<Shape> &shapes, Packed &head,
                 std::vector<PackedFamily> &packed) {
        head.stale_count = static_cast<int>(box.stale.size());
        head.stale = all<int>(box.stale);
        head.ends = next_offset();
        for (const int64_t v : box.stale) {
            put(box.lo[v]);
            put(box.hi[v]);
        }
        std::vector<int64_t> terms;
        for (size_t i = 0; i < families.size(); i++) {
            families[i].stale_terms(box, terms);
            packed[i].stale_count = static_cast<int>(terms.size());
            packed[i].stale = all<int>(terms);
            terms.insert(terms.end(), left_out_[i].begin(), left_out_[i].end());
            left_out_[i].clear();
            for (const Touched &t : shapes[i].terms) left_out_[i].push_back(t.term);
            terms.insert(terms.end(), left_out_[i].begin(), left_out_[i].end());
            int64_t size = families[i].count();
            for (int level = 0; size > 1; level++, size = (size + INFIMUM_CHUNK - 1) / INFIMUM_CHUNK) {
                for (int64_t &t : terms) t /= INFIMUM_CHUNK;
                std::sort(terms.begin(), terms.end());
                terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
                packed[i].redo_count[level] = static_cast<int>(terms.size());
                packed[i].redo[level] = all<int>(terms);
            }
        }
    }
    void terms(const Shape &shape, Packed &head, PackedFamily &to) {
        std::vector<Touched> found = shape.terms;
        to.rows = 0;
        for (Touched &t : found) {
            t.open += head.pool;
            for (int i = 0; i < t.entry.positions.count(); i++) t.entry.starts[i] += head.pool;
            to.rows += t.entry.positions.rows(shape.parts);
        }
        to.op = shape.reduction;
        to.touched_count = static_cast<int>(found.size());
        to.touched = all<Touched>(found);
        head.pool += shape.pool;
        head.rows += to.rows;
    }
    // False where a component reads more split variables than a table holds.
    bool components(const Split &s, const std::vector<int> &position, std::vector<Slopes> &slopes, const double *extra_lo,
                    const double *extra_hi, Packed &head) {
        std::vector<PackedComponent> found;
        std::vector<double> extras;
        bool complete = true;
        for (size_t i = 0; i < slopes.size(); i++) {
            std::vector<std::pair<int64_t, Positions>> touched;
            complete = slopes[i].touched(s, position, touched) && complete;
            for (const auto &t : touched) {
                PackedComponent c = {};
                c.slopes = static_cast<int>(i);
                c.component = static_cast<int>(t.first);
                c.positions = t.second;
                c.start = head.mask_rows;
                head.mask_rows += t.second.rows(s.parts);
                c.extra = static_cast<int>(extras.size());
                for (const int64_t at : slopes[i].extras(t.first)) {
                    extras.push_back(extra_lo[at]);
                    extras.push_back(extra_hi[at]);
                }
                found.push_back(c);
            }
        }
        head.masks = static_cast<int>(found.size());
        head.mask = all<PackedComponent>(found);
        head.extra = all<double>(extras);
        return complete;
    }
};

}  // namespace INFIMUM_NAMESPACE
