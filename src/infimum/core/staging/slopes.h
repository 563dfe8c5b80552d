// Which children a partial derivative discards: it has one sign there, away from the edge that this sign points away from.
//
// A component that reads at most three split variables has at most 64 values on the children of a region; what it reads of
// the whole region (a sum under a square root, the other factors of a product) is enclosed once. Right only where the
// function is smooth around the region: the caller knows.
#pragma once
#include "families.h"

namespace INFIMUM_NAMESPACE {

struct Discards {
    Positions positions;
    std::vector<unsigned char> holds;  // one a combination of digits
};

class Slopes {
    infimum_slopes spec_;
    Readers readers_;
    Rows enclose_;
    std::vector<int64_t> components_;

  public:
    Slopes(const infimum_slopes &spec, int64_t n, Stage stage)
        : spec_(spec), readers_(n, spec.count, spec.reads + 1, with_own(spec).data()), enclose_(spec.program, stage, false) {}

    // Add what the components that a split touches discard; false where one reads more split variables than a table holds.
    bool masks(const Box &box, const double *domain_lo, const double *domain_hi, const Split &s,
               const std::vector<int> &position, const double *extra_lo, const double *extra_hi, std::vector<Discards> &found) {
        std::vector<std::pair<int64_t, Positions>> split;
        const bool complete = touched(s, position, split);
        int digits[MOST_POSITIONS];
        enclose_.clear();
        for (const auto &t : split)
            for (int row = 0; row < t.second.rows(s.parts); row++) {
                const int64_t i = t.first;
                t.second.digits(row, s.parts, digits);
                for (int64_t j = 0; j < spec_.reads; j++) {
                    const Range x = range_of(spec_.read[i * spec_.reads + j], box, s, position, t.second, digits);
                    enclose_.put(x.lo, x.hi);
                }
                for (int64_t j = 0; j < spec_.constants; j++)
                    enclose_.put(spec_.lo[i * spec_.constants + j], spec_.hi[i * spec_.constants + j]);
                for (int64_t j = 0; j < spec_.extras; j++) {
                    const int64_t at = spec_.extra[i * spec_.extras + j];
                    enclose_.put(extra_lo[at], extra_hi[at]);
                }
            }
        if (split.empty()) return complete;
        enclose_.run();
        int64_t next = 0;
        for (const auto &t : split) {
            const int64_t v = spec_.variables[t.first];
            Discards mask = {t.second, {}};
            bool any = false;
            for (int row = 0; row < t.second.rows(s.parts); row++) {
                t.second.digits(row, s.parts, digits);
                const Range slope = enclose_.range(next++), x = range_of(v, box, s, position, t.second, digits);
                mask.holds.push_back(discards(slope, x, domain_lo[v], domain_hi[v]));
                any = any || mask.holds.back();
            }
            if (any) found.push_back(std::move(mask));
        }
        return complete;
    }

    // The components that a split touches, with the positions that each reads; false where one reads more than a table holds.
    bool touched(const Split &s, const std::vector<int> &position, std::vector<std::pair<int64_t, Positions>> &found) {
        readers_.of(s.variables.data(), s.count(), components_);
        bool complete = true;
        for (const int64_t i : components_) {
            Positions positions = {0};
            const int own = position[spec_.variables[i]];
            bool fits = own < 0 || add(positions, own);
            for (int64_t j = 0; j < spec_.reads; j++) {
                const int at = position[spec_.read[i * spec_.reads + j]];
                if (at >= 0) fits = fits && add(positions, at);
            }
            if (fits && has_table(positions, s.parts))
                found.push_back({i, positions});
            else
                complete = false;
        }
        return complete;
    }
    // What a component reads of the whole region, by number.
    std::vector<int64_t> extras(int64_t component) const {
        const int64_t *first = spec_.extra + component * spec_.extras;
        return std::vector<int64_t>(first, first + spec_.extras);
    }

  private:
    // What a component looks at: what it reads, and the edges of its own variable.
    static std::vector<int64_t> with_own(const infimum_slopes &spec) {
        std::vector<int64_t> found;
        for (int64_t i = 0; i < spec.count; i++) {
            found.push_back(spec.variables[i]);
            found.insert(found.end(), spec.read + i * spec.reads, spec.read + (i + 1) * spec.reads);
        }
        return found;
    }
    static Range range_of(int64_t v, const Box &box, const Split &s, const std::vector<int> &position, Positions p,
                          const int *digits) {
        const int at = position[v];
        if (at < 0) return {box.lo[v], box.hi[v]};
        const double *edges = s.edges_of(at) + digits[place_of(p, at)];
        return {edges[0], edges[1]};
    }
};

}  // namespace INFIMUM_NAMESPACE
