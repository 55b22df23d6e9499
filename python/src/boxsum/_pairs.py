# Code generated from the list of package pairs. DO NOT EDIT.

# Pixels and their sums, the usual one first.
SUMS = (
    ("u1", "u4"),
    ("u1", "u8"),
    ("u1", "f4"),
    ("u1", "f8"),
    ("u1", "i8"),
    ("u2", "u8"),
    ("u2", "f8"),
    ("u2", "u4"),
    ("u4", "u8"),
    ("u4", "u4"),
    ("i2", "i8"),
    ("i2", "f8"),
    ("i4", "i8"),
    ("f4", "f8"),
    ("f4", "f4"),
    ("f8", "f8"),
)
