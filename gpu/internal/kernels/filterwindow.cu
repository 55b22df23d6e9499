// Code generated from the list in modules.go. DO NOT EDIT.
// PTX 7.1 for compute capability 80.

#include "filter_window.h"

BOXSUM_FILTER_WINDOW(filterwindow_mean_2, 2, false, false, 4, 10)
BOXSUM_FILTER_WINDOW(filterwindow_mean_3, 3, false, true, 4, 10)
BOXSUM_FILTER_WINDOW(filterwindow_decide_2, 2, true, false, 3, 12)
BOXSUM_FILTER_WINDOW(filterwindow_decide_3, 3, true, true, 3, 12)
