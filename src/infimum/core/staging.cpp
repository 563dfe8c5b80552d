// Staging (docs/staging.md): the cost of a child is what the split touches, not n. The C interface of core/staging/.
#define INFIMUM_NAMESPACE infimum_staged
#include "staging/staging.h"

#include "floating_point.h"
#include "variants.h"

using infimum_staged::Staging;

extern "C" {
#ifdef INFIMUM_BREAKABLE
int infimum_broken = 0;
void infimum_break(int number) { infimum_broken = number; }
#endif
// nullptr where there is no memory.
void *infimum_staging_new(const infimum_structure *spec) {
    try {
        return new Staging(*spec, stage_of(static_cast<int>(spec->variant)));
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}
void infimum_staging_free(void *s) { delete static_cast<Staging *>(s); }
const double *infimum_staging_lo(void *s) { return static_cast<Staging *>(s)->box().lo.data(); }
const double *infimum_staging_hi(void *s) { return static_cast<Staging *>(s)->box().hi.data(); }
int64_t infimum_staging_wide(void *s) { return static_cast<Staging *>(s)->box().wide; }
int64_t infimum_staging_open(void *s) { return static_cast<Staging *>(s)->box().open; }
double infimum_staging_bound(void *s, int64_t region) { return static_cast<Staging *>(s)->bound(region); }
int64_t infimum_staging_left(void *s, int64_t region) { return static_cast<Staging *>(s)->left(region); }
int64_t infimum_staging_parent(void *s, int64_t region) { return static_cast<Staging *>(s)->region(region).parent; }
int64_t infimum_staging_depth(void *s, int64_t region) { return static_cast<Staging *>(s)->region(region).depth; }
void infimum_staging_prefixes(void *s, int64_t region, double *bounds, int64_t *indices, int64_t *depths) {
    static_cast<Staging *>(s)->prefixes(region, bounds, indices, depths);
}
const int64_t *infimum_staging_moves(void *s) { return &static_cast<Staging *>(s)->box().moves; }
int64_t infimum_staging_excludes(void *s, const double *slope_lo, const double *slope_hi) {
    return static_cast<Staging *>(s)->excludes(slope_lo, slope_hi);
}
int64_t infimum_staging_parts(void *s, int64_t region) { return static_cast<Staging *>(s)->region(region).split.parts; }
int64_t infimum_staging_count(void *s, int64_t region) { return static_cast<Staging *>(s)->region(region).split.count(); }
void infimum_staging_read(void *s, int64_t region, int64_t *variables, double *edges) {
    const infimum_staged::Split &split = static_cast<Staging *>(s)->region(region).split;
    std::copy(split.variables.begin(), split.variables.end(), variables);
    std::copy(split.edges.begin(), split.edges.end(), edges);
}
void infimum_staging_release(void *s, int64_t region) { static_cast<Staging *>(s)->release(region); }

const unsigned char *infimum_staging_packed(void *s) { return static_cast<Staging *>(s)->packed().data(); }
int64_t infimum_staging_packed_bytes(void *s) { return static_cast<int64_t>(static_cast<Staging *>(s)->packed().size()); }

// Those below return an infimum_staging_failure where they fail.
#define INFIMUM_GUARDED(expression)            \
    const DefaultFloatingPoint state;          \
    try {                                      \
        return expression;                     \
    } catch (const std::bad_alloc &) {         \
        return INFIMUM_STAGING_NO_MEMORY;      \
    } catch (const std::logic_error &) {       \
        return INFIMUM_STAGING_FAULT;          \
    }
int64_t infimum_staging_go(void *s, int64_t region, int64_t index, int64_t depth) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->go(region, index, depth))
}
int64_t infimum_staging_discards(void *s, int64_t region, int64_t index, const infimum_standing *there) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->discards_child(region, index, *there))
}
int64_t infimum_staging_split(void *s, int64_t count, int64_t parts, const int64_t *variables, const double *edges) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->split(count, static_cast<int>(parts), variables, edges))
}
int64_t infimum_staging_split_equally(void *s, int64_t from, int64_t count, int64_t parts, int64_t *following) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->split_equally(from, count, static_cast<int>(parts), following))
}
int64_t infimum_staging_tabulate(void *s, int64_t region, int64_t masked, const double *extra_lo, const double *extra_hi) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->tabulate(region, masked != 0, extra_lo, extra_hi))
}
int64_t infimum_staging_pack(void *s, int64_t region, int64_t masked, const double *extra_lo, const double *extra_hi) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->pack(region, masked != 0, extra_lo, extra_hi))
}
int64_t infimum_staging_begin(void *s, int64_t region, double upper) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->begin(region, upper))
}
int64_t infimum_staging_point(void *s, int64_t region, int64_t index, int64_t fraction, double *x) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->point(region, index, fraction, x))
}
int64_t infimum_staging_sample(void *s, int64_t region, double *value, double *lo, double *hi, int64_t *index, int64_t *fraction) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->sample(region, value, lo, hi, index, fraction))
}
int64_t infimum_staging_settle(void *s, int64_t region, double upper, int64_t most) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->settle(region, upper, most))
}
int64_t infimum_staging_forget(void *s) {
    INFIMUM_GUARDED((static_cast<Staging *>(s)->forget(), 0))
}
int64_t infimum_staging_advance(void *s, int64_t region, double upper, double other_bound, int64_t other, int64_t most,
                                double *bound, int64_t *index) {
    INFIMUM_GUARDED(static_cast<Staging *>(s)->advance(region, upper, other_bound, other, most, bound, index))
}
}
