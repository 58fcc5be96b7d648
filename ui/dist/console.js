// written by the build of ui
