"""Criteria that others wrote: `crosswind certify --suite conformance`.

Each file is one source and has a function `claims`, as the files of the default suite have. Parameters and
criteria are those of the source; a claim's `because` names its section or test. What differs, such as a
shorter duration, is in the name of the claim or in `because`. Criteria that do not apply are listed with
reasons in docs/explanation/conformance.md.
"""
