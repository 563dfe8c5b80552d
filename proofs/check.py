"""Re-run the proofs of the error bounds in the headers; the exit status is 0 only if every one holds.

Usage: python src/infimum/core/proofs/check.py     (needs the programs sollya and gappa; README.md explains the sums)
"""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2
from pathlib import Path

import erf  # type: ignore[import-not-found]  # beside this script
import gamma  # type: ignore[import-not-found]
from nearest import nearest_multiple, tiny_product_error  # type: ignore[import-not-found]  # beside this script

HERE = Path(__file__).resolve().parent
CORE = HERE.parent / "src" / "infimum" / "core"
ULP = Fraction(1, 2**53)  # half a unit in the last place, relative
UNDERFLOW = Fraction(1, 2**500)  # what underflow adds, relative to a result of at least 2^-538: README.md

EXPM1, ONE_PLUS = "DD<D> expm1_kernel(DD<D> r)", "DD<D> one_plus(DD<D> p)"
EXP_REDUCE = "DD<D> exp_reduce(D x, D &k)"
LOG_REDUCE, LOG_OF = "DD<D> log_reduce(DD<D> x, D &k)", "DD<D> log_of(DD<D> x)"
ARGUMENT, TWO_ATANH = "DD<D> atanh_argument(DD<D> f)", "DD<D> two_atanh(DD<D> s)"
PLUS_K_LN2 = "DD<D> plus_k_ln2(D k, DD<D> y)"
TRIG = "DD<D> trig_kernel(DD<D> r, M odd)"
NEAR_REDUCE, PI_REDUCE = "DD<D> near_reduce(D x, D &k)", "DD<D> pi_reduce(D x, D &k)"
FAST_TWO_SUM, TWO_SUM = "DD<D> fast_two_sum(D a, D b)", "DD<D> two_sum(D a, D b)"
TWO_PROD, TIMES = "DD<D> two_prod(D a, D b)", "DD<D> times(DD<D> a, D b)"
ERF_OVER, SCALED_ERFC = "DD<D> erf_over(D m)", "DD<D> scaled_erfc(D m)"
MARGIN = "D margin(DD<D> y, double bound)"

# The functions whose whole text each Gappa script must quote.
QUOTED = {
    "exp.gappa": [EXPM1, ONE_PLUS, FAST_TWO_SUM, TWO_SUM, EXP_REDUCE],
    "log.gappa": [LOG_REDUCE, LOG_OF, ARGUMENT, TWO_ATANH, PLUS_K_LN2],
    "cos.gappa": [TRIG, MARGIN],
    "sin.gappa": [TRIG],
    "trig.gappa": [TWO_PROD, NEAR_REDUCE, PI_REDUCE, TIMES],
}
# The functions whose constants each script must define, in the order of the code. "odd" and "even" are the two choices
# of a select in trig_kernel.
CONSTANTS = {
    "exp.sollya": [(EXPM1, ""), (EXP_REDUCE, "")],
    "exp.gappa": [(EXPM1, ""), (EXP_REDUCE, "")],
    "log.sollya": [(TWO_ATANH, ""), (PLUS_K_LN2, "")],
    "log.gappa": [(TWO_ATANH, ""), (PLUS_K_LN2, "")],
    "trig.sollya": [(TRIG, "odd"), (TRIG, "even"), (NEAR_REDUCE, ""), (PI_REDUCE, "")],
    "sin.gappa": [(TRIG, "odd")],
    "cos.gappa": [(TRIG, "even")],
    "trig.gappa": [(NEAR_REDUCE, ""), (PI_REDUCE, "")],
}
HEADERS = [
    "double_double.h",
    "elementary/erf.h",
    "elementary/exp.h",
    "elementary/gamma.h",
    "elementary/log.h",
    "elementary/reduction.h",
    "elementary/trig.h",
]
LITERAL = r"-?(?:0x[0-9a-f.]+p[+-]?\d+|\d[\d.]*)"


class ProofError(Exception):
    """A sentence that says which proof does not hold."""


def require(condition: bool, sentence: str) -> None:
    if not condition:
        raise ProofError(sentence)


# -------------------------------------------------------------------------------- code and scripts agree
def plain(code: str) -> str:
    """Return code without comments and with single spaces."""
    return " ".join(re.sub(r"//.*", "", code).split())


def body(signature: str) -> str:
    """Return what stands between the braces of a function, which exactly one header defines."""
    pattern = re.escape(f"INFIMUM_FN {signature} {{\n") + r"(.*?)\n}\n"
    found = [m for name in HEADERS for m in re.findall(pattern, (CORE / name).read_text(), re.DOTALL)]
    require(len(found) == 1, f"{signature} is defined {len(found)} times in {', '.join(HEADERS)}.")
    return plain(found[0])


def check_quotes(script: str) -> None:
    quotes: dict[str, list[str]] = {}
    signature = ""
    for line in (HERE / script).read_text().splitlines():
        if line.startswith("#: "):
            signature = line.split(" ", 2)[2]
        if line.startswith("#| "):
            quotes.setdefault(signature, []).append(line[3:])
    require(
        sorted(quotes) == sorted(QUOTED[script]), f"{script} must quote {QUOTED[script]}, it quotes {sorted(quotes)}."
    )
    for name, lines in quotes.items():
        require(plain("\n".join(lines)) == body(name), f"{script} proves another text of {name} than the header has.")


def constants_of(signature: str, choice: str) -> list[str]:
    code = body(signature)
    if choice:
        pair = rf"select\(odd, (?:K\(({LITERAL})\)|[^,]*), (?:K\(({LITERAL})\)|[^,]*?)\)"
        code = re.sub(pair, lambda m: f"K({m[1 if choice == 'odd' else 2]})", code)
    return re.findall(rf"K\(({LITERAL})\)", code)


def check_constants(script: str) -> None:
    text = re.sub(r"(#|//).*", "", (HERE / script).read_text())
    defined = re.findall(rf"^\w+ = ({LITERAL});$", text, re.MULTILINE)
    expected = [c for signature, choice in CONSTANTS[script] for c in constants_of(signature, choice)]
    require(defined == expected, f"{script} defines the constants {defined}, the code has {expected}.")
    require(len(re.findall("0x", text)) == sum("0x" in c for c in defined), f"{script} uses a constant without a name.")


def check_gamma() -> None:
    """Compare the constants of gamma.h with the numbers that they stand for."""
    for signature, expected in gamma.constants().items():
        found = [float.fromhex(c) for c in constants_of(signature, "")]
        require(found == expected, f"{signature} has the constants {found}, they should be {expected}.")
    text = (CORE / "elementary/gamma.h").read_text()
    turn, least = re.search(r"#define INFIMUM_GAMMA_TURN (\S+)", text), re.search(r"least = K\((\S+)\)", text)
    require(turn is not None and least is not None, "elementary/gamma.h has no turn, or no least value.")
    assert turn is not None and least is not None
    require(gamma.turns_after(float.fromhex(turn[1])), f"digamma is not zero between {turn[1]} and the next double.")
    require(gamma.is_least(float.fromhex(least[1])), f"The least value of log Gamma is not just above {least[1]}.")
    for name, exponent in (("lgamma", 80), ("digamma", 79.8), ("trigamma", 70)):
        require(log2(gamma.left_out(name)) < -exponent, f"Stirling's sum for {name} errs by more than 2^-{exponent}.")


def check_table(pi: tuple[Fraction, Fraction]) -> None:
    """Compare the words of 2/pi in far_reduce_positive with pi."""
    text = (CORE / "elementary/reduction.h").read_text()
    table = re.search(r"two_over_pi\[(\d+)\] = \{(.*?)\}", text, re.DOTALL)
    require(table is not None, "elementary/reduction.h has no table two_over_pi.")
    assert table is not None
    words = [int(word, 16) for word in re.findall(r"0x([0-9a-f]{16})ULL", table[2])]
    value = sum(word << 64 * (len(words) - 1 - i) for i, word in enumerate(words))
    unit = Fraction(2) ** (64 * (len(words) - 1))  # the first word is the integer part
    require(len(words) == int(table[1]), f"two_over_pi has {len(words)} words, not {table[1]}.")
    require(value <= 2 / pi[1] * unit and 2 / pi[0] * unit < value + 1, "two_over_pi does not hold the bits of 2/pi.")


def header_bound(name: str) -> Fraction:
    found = [
        m
        for h in HEADERS
        for m in re.findall(rf"#define {name} BOUND\((0x[0-9a-f.]+p[+-]?\d+)\)", (CORE / h).read_text())
    ]
    require(len(found) == 1, f"{name} is defined {len(found)} times.")
    return Fraction(float.fromhex(found[0]))


def header_claim(function: str) -> Fraction:
    """Return the 2^-n of the comment "Relative error below 2^-n (proofs/..." above a kernel."""
    sentence = r"elative error below 2\^-(\d+) \(proofs/[^\n]*\n(?://[^\n]*\n)*"
    for name in HEADERS:
        pattern = rf"{sentence}template <class D>\nINFIMUM_FN DD<D> {function}\("
        found = re.search(pattern, (CORE / name).read_text())
        if found:
            return Fraction(1, 2 ** int(found[1]))
    raise ProofError(f"No header says how large the relative error of {function} is.")


# -------------------------------------------------------------------------------- scripts
def number(text: str) -> Fraction:
    mantissa, _, exponent = text.strip().partition("b")
    return Fraction(mantissa) * Fraction(2) ** int(exponent or 0)


Range = tuple[Fraction, Fraction]


def ranges(formula: str) -> dict[str, Range]:
    """Read `e in [a, b]`, `|e| in [a, b]`, `|e| <= b` and `|e| >= a`; the latter three are ranges of `|e|`."""
    found: dict[str, Range] = {}
    for atom in formula.split("/\\"):
        m = re.fullmatch(r"\s*(.+?) (?:in \[(.+), (.+)\]|<= (\S+)|>= (\S+))\s*", atom, re.DOTALL)
        require(m is not None, f"The atom {atom.strip()} is not understood.")
        assert m is not None
        low, high = m[2] or m[5] or "0", m[3] or m[4] or "1b1024"
        found[m[1]] = (number(low), number(high))
    return found


@dataclass(frozen=True)
class Lemma:
    """A statement that Gappa verifies: the ranges assumed and the ranges proved."""

    title: str
    text: str
    assumed: dict[str, Range]
    proved: dict[str, Range]

    def bound(self, name: str) -> Fraction:
        return self.proved[f"|{name}|"][1]

    def leads_to(self, name: str, other: "Lemma", other_name: str) -> None:
        low, high = self.proved[name]
        least, most = other.assumed[other_name]
        require(
            least <= low and high <= most, f"{other.title} assumes a narrower {other_name} than {self.title} proves."
        )


def lemmas(script: str) -> dict[str, Lemma]:
    prelude, *parts = re.split(r"^(?=# lemma )", (HERE / script).read_text(), flags=re.MULTILINE)
    found: dict[str, Lemma] = {}
    for part in parts:
        name = part.split()[2].rstrip(":")
        formula = re.search(r"^\{(.*?)->(.*?)\}$", part, re.DOTALL | re.MULTILINE)
        require(formula is not None, f"{script}: lemma {name} has no formula.")
        assert formula is not None
        found[name] = Lemma(f"{script}: lemma {name}", prelude + part, ranges(formula[1]), ranges(formula[2]))
    return found


def run(command: list[str], text: str, title: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=100)
    except subprocess.TimeoutExpired:
        raise ProofError(f"{title} takes more than 100 seconds.") from None


def run_gappa(lemma: Lemma) -> None:
    done = run(["gappa"], lemma.text, lemma.title)
    reason = " ".join(line for line in done.stderr.splitlines() if not line.startswith("Warning"))
    require(done.returncode == 0, f"Gappa does not prove {lemma.title}: {reason}")


def run_sollya(script: str) -> dict[str, Fraction]:
    """Return the numbers that a script prints, one for every name in quotes in its text."""
    done = run(["sollya", str(HERE / script)], "", script)
    found = {m[1]: number(m[2]) for m in re.finditer(r"^(\w+) = (-?\d+(?:b-?\d+)?)$", done.stdout, re.MULTILINE)}
    names = set(re.findall(r'\("(\w+)', (HERE / script).read_text()))
    require(set(found) == names, f"Sollya finds no value of {sorted(names - set(found))} of {script}.")
    return found


# -------------------------------------------------------------------------------- sums
@dataclass(frozen=True)
class Total:
    function: str
    approximation: Fraction
    rounding: Fraction
    reduction: Fraction
    low_part: Fraction  # |yl|/|yh| at most
    bound: Fraction
    source: str

    @property
    def total(self) -> Fraction:
        """The error relative to the exact value."""
        return both(self.approximation, self.rounding, self.reduction)

    @property
    def needed(self) -> Fraction:
        """What the bound must be: the error relative to |yh|, and the rounding of the margin."""
        return self.total / (1 - self.total) * (1 + self.low_part) / (1 - ULP)

    @property
    def holds(self) -> bool:
        return self.needed <= self.bound


def both(*errors: Fraction) -> Fraction:
    """Return the relative error of a value after all of these relative errors."""
    product = Fraction(1)
    for e in errors:
        product *= 1 + e
    return product - 1


def exp_totals(g: dict[str, Lemma], s: dict[str, Fraction]) -> list[Total]:
    kernel, product, one_plus, reduction = g["kernel"], g["product"], g["one_plus"], g["reduction"]
    kernel.leads_to("wh", product, "gh")
    kernel.leads_to("|wl|", product, "|gl|")
    reach = kernel.assumed["|rh|"][1]
    require(reach * product.assumed["gh"][1] * (1 + ULP) <= one_plus.assumed["|kh|"][1], "one_plus: p.h is too large.")
    require(reach * product.bound("yl") <= one_plus.assumed["|kl|"][1], "one_plus: p.l is too large.")
    shift = reduction.bound("r_error") + reduction.bound("k") * s["residual"]
    require((reduction.bound("r_exact") + shift) * (1 + ULP) <= reach, "exp_reduce: r leaves the range of the kernel.")
    # fast_two_sum: s.h is at least the nearest multiple's distance less its low part.
    low = reduction.bound("kL3") + shift
    nearest, _, _ = nearest_multiple((s["ln2_lo"], s["ln2_hi"]), 10)
    s_h = (nearest - low) / (1 + ULP)
    require((s_h * ULP + low) * (1 + ULP) < s_h, "exp_reduce: fast_two_sum may get its operands in the wrong order.")

    w = kernel.bound("w_error") / (s["slope_min"] * (1 - s["approximation"]))
    y = product.bound("y_error") / ((1 - 2 * ULP) * (product.assumed["gh"][0] - product.assumed["|gl|"][1]))
    rounding = both(w, y)
    low_p = product.bound("yl") / (product.assumed["gh"][0] * (1 - ULP))
    one = one_plus.bound("e_error") / s["exp_min"]
    low_e = one_plus.bound("el") / (1 - one_plus.assumed["|kh|"][1] - ULP)
    weight = s["weight_max"]
    return [
        Total(
            "expm1_kernel",
            s["approximation"],
            both(rounding, UNDERFLOW),
            Fraction(0),
            low_p,
            header_claim("expm1_kernel"),
            "comment",
        ),
        Total(
            "exp",
            weight * s["approximation"],
            weight * rounding * (1 + s["approximation"]) + one + UNDERFLOW,
            shift * (1 + shift),
            low_e,
            header_bound("INFIMUM_EXP_BOUND"),
            "EXP_BOUND",
        ),
    ]


def log_totals(g: dict[str, Lemma], s: dict[str, Fraction]) -> list[Total]:
    denominator, quotient, kernel, product, added = (
        g[n] for n in ("denominator", "quotient", "kernel", "product", "sum")
    )
    denominator.leads_to("dh", quotient, "dh")
    denominator.leads_to("|dl|", quotient, "|dl|")
    kernel.leads_to("|vh|", product, "|vh|")
    kernel.leads_to("|vl|", product, "|vl|")
    # s = f/d: s d - f is small, and d differs from 2 + f.
    argument = both(
        quotient.bound("s_error") / (1 - 2 * ULP),
        denominator.bound("d_error") / (denominator.proved["dh"][0] - 1),
    )
    require(s["s_max"] * (1 + argument) * (1 + ULP) <= kernel.assumed["|sh|"][1], "two_atanh: s is too large.")
    y = product.bound("y_error") / ((1 - 2 * ULP) * (1 - 2 * product.assumed["|vh|"][1]))
    rounding = both(kernel.bound("v_error"), y)  # relative to 1 + V, which is at least 1
    low_y = product.bound("yl") / (1 - 2 * product.assumed["|vh|"][1])
    largest = s["log_m_max"] * (1 + both(rounding, s["approximation"], 2 * argument))
    require(largest * (1 + ULP) <= added.assumed["|yh|"][1], "plus_k_ln2: y.h is too large.")
    require(low_y * largest <= added.assumed["|yl|"][1], "plus_k_ln2: y.l is too large.")
    k_y = added.proved["|kL1|"][0] - added.assumed["|yh|"][1]
    require(k_y > 0 and added.bound("bn") < k_y * (1 - ULP), "plus_k_ln2: fast_two_sum may get the wrong order.")
    absolute = added.bound("b_error") + added.assumed["|k|"][1] * s["residual"]
    return [
        Total(
            "two_atanh",
            s["approximation"],
            both(rounding, UNDERFLOW),
            Fraction(0),
            low_y,
            header_claim("two_atanh"),
            "comment",
        ),
        Total(
            "log",
            s["approximation"],
            rounding,
            both(s["gain_max"] * argument, absolute / s["log_min"]),
            2 * ULP,
            header_bound("INFIMUM_LOG_BOUND"),
            "LOG_BOUND",
        ),
    ]


def trig_totals(
    cos: dict[str, Lemma], sin: dict[str, Lemma], g: dict[str, Lemma], s: dict[str, Fraction]
) -> list[Total]:
    bound = header_bound("INFIMUM_TRIG_BOUND")
    pi = (s["pi_lo"], s["pi_hi"])
    # near_reduce: s.h, and with it r, is not too small.
    reduction = g["reduction"]
    nearest, _, _ = nearest_multiple((pi[0] / 2, pi[1] / 2), 30)
    residual = reduction.bound("k") * s["residual"]
    low = reduction.bound("pl") + reduction.bound("lb") + residual
    s_h = reduction.assumed["|sh|"][0]
    require((nearest - low) / (1 + ULP) >= s_h, f"near_reduce: r may be too small, 2^{log2(nearest):.2f}.")
    require(
        (s_h * ULP + low) * (1 + 3 * ULP) < s_h, "near_reduce: fast_two_sum may get its operands in the wrong order."
    )
    by_half_pi = reduction.bound("r_error") / (1 - ULP - low / s_h) + residual / nearest
    reach = cos["kernel"].assumed["rh"][1]
    require(
        reduction.bound("r_exact") * (1 + by_half_pi) * (1 + ULP) <= reach, "near_reduce: r leaves the kernel's range."
    )
    # far_reduce_positive: its table, and the smallest fraction that it may meet.
    check_table(pi)
    farthest, _, _ = nearest_multiple((pi[0] / 2, pi[1] / 2), 1023)
    require(
        farthest > Fraction(1, 2**62),
        f"far_reduce: a double comes within 2^{log2(farthest):.2f} of a multiple of pi/2.",
    )
    # pi_reduce: |g| <= 1/4.
    q = [Fraction(float.fromhex(c)) for c in constants_of(PI_REDUCE, "")]
    by_pi = both(g["pi_reduction"].bound("g_error") / sum(q), s["pi_residual"] / pi[0])
    require(pi[1] / 4 * (1 + by_pi) * (1 + ULP) <= reach, "pi_reduce: r leaves the range of the kernel.")
    require(tiny_product_error(pi, q[0], q[1], bits=58) < 1 - UNDERFLOW, "pi_reduce: a tiny r may err by 2^-1074.")
    require(bound * 3 * Fraction(2) ** 58 >= 2, "The margin of a result above 2^-1015 does not cover underflow.")

    sin["kernel"].leads_to("vh", sin["product"], "vh")
    sin["kernel"].leads_to("|vl|", sin["product"], "|vl|")
    require(sin["kernel"].assumed["rh"][1] == reach, "cos.gappa and sin.gappa differ in their range.")
    v = sin["kernel"].bound("v_error") / (s["slope_min"] * (1 - s["sin_approximation"]))
    v_min = 1 + sin["product"].assumed["vh"][0] - sin["product"].assumed["|vl|"][1]
    y = sin["product"].bound("y_error") / ((1 - 2 * ULP) * v_min)
    sin_rounding = both(v, y, UNDERFLOW)
    sin_low = sin["product"].bound("yl") / sin["product"].proved["yh"][0]
    cos_rounding = cos["kernel"].bound("y -/ Y")
    cos_low = cos["kernel"].bound("yl") / cos["kernel"].proved["yh"][0]
    rows = [("", by_half_pi), ("pi", by_pi)]
    return [
        Total(
            "cos" + suffix,
            s["cos_approximation"],
            cos_rounding,
            e * (1 + e) * s["swing_max"],
            cos_low,
            bound,
            "TRIG_BOUND",
        )
        for suffix, e in rows
    ] + [
        Total("sin" + suffix, s["sin_approximation"], sin_rounding, e / s["slope_min"], sin_low, bound, "TRIG_BOUND")
        for suffix, e in rows
    ]


def erf_totals() -> list[Total]:
    """The coefficients are read from the header; t = (x - 4)/(x + 4) for 0.47 <= x <= 27.5."""
    near = erf.errors(
        constants_of(ERF_OVER, ""), [None] * 7 + [False, True, True], erf.erf_over, Fraction(0), Fraction(1, 4), 200
    )
    far = erf.errors(
        constants_of(SCALED_ERFC, ""),
        [None] * 16 + [True, False] + [True] * 6,
        erf.scaled_erfc,
        (Fraction("0.47") - 4) / (Fraction("0.47") + 4),
        Fraction(47, 63),
        1500,
    )
    return [
        Total(name, approximation, evaluation, Fraction(0), ULP, header_claim(name), "comment")
        for name, (approximation, evaluation) in (("erf_over", near), ("scaled_erfc", far))
    ]


# -------------------------------------------------------------------------------- report
def power(value: Fraction) -> str:
    if value == 0:
        return "0"
    return f"2^{ceil(100 * (log2(value.numerator) - log2(value.denominator))) / 100:.2f}"


def report(totals: list[Total]) -> None:
    head = ("function", "approximation", "rounding", "reduction", "total", "bound in header", "verdict")
    rows = [head] + [
        (
            t.function,
            power(t.approximation),
            power(t.rounding),
            power(t.reduction),
            power(t.needed),
            f"{power(t.bound)} {t.source}",
            "proved" if t.holds else "NOT PROVED",
        )
        for t in totals
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print(" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def main() -> int:
    for program in ("sollya", "gappa"):
        if shutil.which(program) is None:
            print(f"The program {program} is not installed; Debian and Ubuntu have it as the package {program}.")
            return 2
    try:
        for script in QUOTED:
            check_quotes(script)
        for script in CONSTANTS:
            check_constants(script)
        check_gamma()
        gappa = {script: lemmas(script) for script in QUOTED}
        with ThreadPoolExecutor(2) as pool:
            sollya = dict(
                zip(
                    ("exp", "log", "trig"),
                    pool.map(run_sollya, ("exp.sollya", "log.sollya", "trig.sollya")),
                    strict=True,
                )
            )
            list(pool.map(run_gappa, [lemma for found in gappa.values() for lemma in found.values()]))
        totals = [
            *exp_totals(gappa["exp.gappa"], sollya["exp"]),
            *log_totals(gappa["log.gappa"], sollya["log"]),
            *trig_totals(gappa["cos.gappa"], gappa["sin.gappa"], gappa["trig.gappa"], sollya["trig"]),
            *erf_totals(),
        ]
    except ProofError as error:
        print(error)
        return 1
    report(totals)
    return 0 if all(t.holds for t in totals) else 1


if __name__ == "__main__":
    sys.exit(main())
