"""The grammar's advocate: which compositions of mechanisms to try, and what of them is needed."""
