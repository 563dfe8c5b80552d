// Which children a partial derivative discards: it has one sign there, away from the edge that this sign points away from.
//
// A component that reads at most three split variables has at most 64 values on the children of a region; what it reads of
// the whole region (a sum under a square root, the other factors of a product) is enclosed once. Right only where the
// function is smooth around the region: the caller knows.
#pragma once
#include "families.h"

namespace INFIMUM_NAMESPACE {

// Whether a slope says that no minimiser lies in a range of its variable. An empty slope, which exists nowhere, says nothing.
//   slope      range                             discards
//   all > 0    begins inside the domain          yes: to the left there is less
//   all < 0    ends inside the domain            yes
//   else       any                               no
inline bool discards(Range slope, Range x, double domain_lo, double domain_hi) {
    const bool left = x.lo == domain_lo && !BROKEN(1), right = x.hi == domain_hi && !BROKEN(1);
    const bool rising = (BROKEN(2) ? slope.hi : slope.lo) > 0 && !left, falling = slope.hi < 0 && !right;
    return (rising || falling) && slope.lo <= slope.hi;
}

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
        readers_.of(s.variables.data(), s.count(), components_);
        std::vector<Positions> shapes;
        bool complete = true;
        size_t kept = 0;
        enclose_.clear();
        for (const int64_t i : components_) {
            Positions positions;
            const int own = position[spec_.variables[i]];
            bool fits = own < 0 || positions.add(own);
            for (int64_t j = 0; j < spec_.reads; j++) {
                const int at = position[spec_.read[i * spec_.reads + j]];
                if (at >= 0) fits = fits && positions.add(at);
            }
            if (!fits || positions.combinations(positions.count, s.parts) > MOST_ROWS) {
                complete = false;
                continue;
            }
            components_[kept++] = i;
            shapes.push_back(positions);
            int digits[MOST_POSITIONS];
            for (int64_t k = 0; k < positions.combinations(positions.count, s.parts); k++) {
                positions.digits(k, s.parts, digits);
                for (int64_t j = 0; j < spec_.reads; j++) {
                    const Range x = range_of(spec_.read[i * spec_.reads + j], box, s, position, positions, digits);
                    enclose_.put(x.lo, x.hi);
                }
                for (int64_t j = 0; j < spec_.constants; j++)
                    enclose_.put(spec_.lo[i * spec_.constants + j], spec_.hi[i * spec_.constants + j]);
                for (int64_t j = 0; j < spec_.extras; j++) {
                    const int64_t at = spec_.extra[i * spec_.extras + j];
                    enclose_.put(extra_lo[at], extra_hi[at]);
                }
            }
        }
        if (kept == 0) return complete;
        enclose_.run();
        int64_t row = 0;
        for (size_t c = 0; c < kept; c++) {
            const int64_t v = spec_.variables[components_[c]];
            Discards mask = {shapes[c], {}};
            bool any = false;
            int digits[MOST_POSITIONS];
            for (int64_t k = 0; k < shapes[c].combinations(shapes[c].count, s.parts); k++, row++) {
                shapes[c].digits(k, s.parts, digits);
                const Range slope = enclose_.range(row), x = range_of(v, box, s, position, shapes[c], digits);
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
            Positions positions;
            const int own = position[spec_.variables[i]];
            bool fits = own < 0 || positions.add(own);
            for (int64_t j = 0; j < spec_.reads; j++) {
                const int at = position[spec_.read[i * spec_.reads + j]];
                if (at >= 0) fits = fits && positions.add(at);
            }
            if (fits && positions.combinations(positions.count, s.parts) <= MOST_ROWS)
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
    static Range range_of(int64_t v, const Box &box, const Split &s, const std::vector<int> &position, const Positions &p,
                          const int *digits) {
        const int at = position[v];
        if (at < 0) return {box.lo[v], box.hi[v]};
        const double *edges = s.edges_of(at) + digits[p.place_of(at)];
        return {edges[0], edges[1]};
    }
};

}  // namespace INFIMUM_NAMESPACE
