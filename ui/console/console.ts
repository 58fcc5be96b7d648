// What the pages of the console gain with a script. Without it they work, but for live numbers and the viewer's zone.
