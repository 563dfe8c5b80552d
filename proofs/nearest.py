"""How close doubles come to multiples of a constant, and pi g where it underflows: exact arithmetic only."""

from fractions import Fraction
from math import floor

Enclosure = tuple[Fraction, Fraction]


def nearest_multiple(constant: Enclosure, largest: int) -> tuple[Fraction, int, int]:
    """Return a lower bound of |x - k c| over doubles 1/4 <= |x| < 2^(largest + 1) and integers k != 0; its k and e.

    Guarantee: holds for every c in the enclosure. The doubles of a binade [2^e, 2^(e+1)) are among the multiples of its
    last bit 2^(e-52), and the multiple of that bit next to some k c, 0 < k <= K, is at least as far as the best
    convergent of c/2^(e-52) with a denominator up to K: convergents are the best approximations of the second kind.
    """
    low, high = constant
    best = (Fraction(1), 0, 0)
    for e in range(-2, largest + 1):
        bit = Fraction(2) ** (e - 52)
        k_max = floor(Fraction(2) ** (e + 1) / low) + 1
        k, distance = best_convergent(low / bit, k_max)
        best = min(best, (distance * bit - k_max * (high - low), k, e))
    return best


def best_convergent(value: Fraction, k_max: int) -> tuple[int, Fraction]:
    """Return the k in 1 .. k_max that brings k * value closest to an integer, and that distance."""
    numerator, denominator = value.numerator, value.denominator
    n, d = numerator, denominator
    p, p_before, q, q_before = 1, 0, 0, 1
    while d:
        a = n // d
        n, d = d, n - a * d
        if a * q + q_before > k_max:
            break
        p, p_before, q, q_before = a * p + p_before, p, a * q + q_before, q
    one = abs(value - round(value))  # the first convergent may round k = 1 to the wrong side
    return min((one, 1), (Fraction(abs(q * numerator - p * denominator), denominator), q))[::-1]


def tiny_product_error(pi: Enclosure, q1: Fraction, q2: Fraction, bits: int) -> Fraction:
    """Return a bound of |r - pi g|/2^-1074 for the r of pi_reduce, over the doubles g = G 2^-1074 with 0 < G < 2^bits.

    Both roundings to multiples of 2^-1074, of the error term of q1 g and of q2 g + that term, may lose one half. The
    first loses exactly one half only where q1 G is half of an odd number, so where G is a multiple of `step`: those are
    tried one by one. Elsewhere it is short of one half by the last bit of q1 at least.
    """
    step = q1.denominator // 2
    miss = max(abs(pi[0] - q1 - q2), abs(pi[1] - q1 - q2)) * (1 << bits)
    worst = Fraction(1, 2) - Fraction(1, q1.denominator) + Fraction(1, 2) + miss
    for g in range(step, 1 << bits, step):
        ph = rounded(q1 * g, significant=53)
        pl = rounded(q1 * g - ph, significant=53)
        r = ph + rounded(q2 * g + pl, significant=53)
        worst = max(worst, abs(r - pi[0] * g), abs(r - pi[1] * g))
    return worst


def rounded(value: Fraction, significant: int) -> Fraction:
    """Round to the nearest integer of that many significant bits, ties to even: a double in units of 2^-1074."""
    size = max(0, floor(abs(value)).bit_length() - significant)
    unit = Fraction(1 << size)
    return round(value / unit) * unit
