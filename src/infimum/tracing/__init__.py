"""Everything that knows NumPy (PROOF): from the user's function to a graph of the same function.

trace.trace_graph(f, n)            runs f once on symbols, and reads the graph off its result
  → twins/twins.Twins.of(f)        f with NumPy's, math's and Python's callables replaced by ones that trace
    → traced.TracedArray           what f gets as x: a view of a buffer.Buffer of numbers and expressions;
                                   array_operators (x + 1), array_methods (x.sum()), selected (x[x > 0])
      → tracer.Tracer              one run; its methods stand in the files of their nouns:
         calls        np.add(a, b), np.sum(a): which rule     dtypes         NumPy's type of the result
         arguments    which keywords a rule honours           copies         a.copy(), a.astype(dtype), order in memory
         indexing     a[key], a[key] = value, out=            broadcasting   one operation on each element
         operands     constants, lists and arrays as nodes
        → numpy/rules              the table of rules: elementwise, shapes, making, folds, statistics, running,
                                   products, choices, composed; and math_rules (with Python's), scipy_rules
          → nonfinite/operations   the node, with NumPy's value where an operand is infinite or NaN:
                                   finiteness (where), zeros (signs), powers; ranges (what the domain excludes)
            → graph.Graph.node     the node

python/    Python's own numbers, errors that a try may catch (guards, raising), clocks, text
twins/     functions, classes, builtins, NumPy's callables; snapshots of the user's objects, restored afterwards
refusal    the error that names the user's line and a substitute; branches: the one for `if x[0] > 0`
"""
