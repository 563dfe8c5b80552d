// A quadratic g.t + t'St/2 over a box, with a point t and the slope there, and scratch memory. Policy, in plain doubles.
#pragma once
#include "cholesky.h"

namespace INFIMUM_NAMESPACE {

template <class D>
struct BoxProblem {
    int n;
    Numbers<D> S, g, lo, hi;
    Numbers<D> t, slope;                // what is found, and g + St there
    Numbers<D> L, inverse, step, straight, diagonal, best, below, above, rising;  // scratch: n², n each
};

template <class D>
INFIMUM_FN BoxProblem<D> problem_in(Storage<D> &space, int n) {
    BoxProblem<D> p;
    p.n = n;
    p.S = space.take(n * n);
    p.L = space.take(n * n);
    Numbers<D> *const vectors[] = {&p.g,       &p.lo,    &p.hi,       &p.t,        &p.slope, &p.inverse, &p.step,
                                   &p.straight, &p.diagonal, &p.best, &p.below, &p.above, &p.rising};
    for (Numbers<D> *vector : vectors) *vector = space.take(n);
    return p;
}
// slope = g + St
template <class D>
INFIMUM_LINEAR_FN void slope_anew(const BoxProblem<D> &p) {
    for (int i = 0; i < p.n; i++) {
        const Numbers<D> row = p.S.from(i * p.n);
        D s = p.g[i];
        for (int j = 0; j < p.n; j++) s = fma_rn(row[j], p.t[j], s);
        p.slope.set(i, s);
    }
}

}  // namespace INFIMUM_NAMESPACE
