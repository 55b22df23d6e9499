package cuda

import "golang.org/x/sys/windows"

var libraries = []string{"nvcuda.dll"}

// open looks in the system's own folder only.
func open(name string) (uintptr, error) {
	library, err := windows.LoadLibraryEx(name, 0, windows.LOAD_LIBRARY_SEARCH_SYSTEM32)
	return uintptr(library), err
}

func find(library uintptr, name string) uintptr {
	at, err := windows.GetProcAddress(windows.Handle(library), name)
	if err != nil {
		return 0
	}
	return at
}
