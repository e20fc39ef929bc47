// A library that holds no task.
extern "C" int something_else() {
  return 0;
}
