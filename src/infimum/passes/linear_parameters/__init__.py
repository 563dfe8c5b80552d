"""Parameters that enter a fit's residuals linearly: r(x) = A(p) c + h(p), the variables x being p and c (PROOF).

degrees       which variables may be c
columns       A and h, as expressions of p alone
tangents      their derivatives
support       the separable dual: y'A(p) over a box of p, for any y
projected     variable projection: the least sum of squares over every c
"""
