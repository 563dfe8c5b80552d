"""Numbers that are no doubles, kept as expressions and enclosed at any precision (PROOF).

number           exact(), pi, e                      scalar, array     Exact and ExactArray, which the user holds
ufuncs           NumPy's functions of them, by       rules, functions  on one number's canonical form (form)
value            the doubles next to a form, by      series, ball      bounds of integers at any precision
columns/, pairs  the same for whole arrays at once
"""
