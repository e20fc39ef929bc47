// A library of another interface than this one.
extern "C" int gripstream_task_interface() {
  return 0;
}
