/* Calls a kernel of a shipped library from Python: `bind(address, arguments, results, describe, otherwise)`.

   It is built with the stable interface of Python 3.11, so one file serves all later versions, and without NumPy's
   headers: arrays come through Python's buffers. A kernel runs only if every argument is what it was compiled for.
   Otherwise `otherwise` is called with the same arguments. */
#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define MOST_ARGUMENTS 96 /* tuples and their members counted */
#define MOST_SLOTS 256
#define RESULTS 2
#define NAME "tabletop_engine.kernel"

typedef int32_t (*kernel_function)(int64_t *slots);
typedef enum { ARRAY, INT, FLOAT, BOOL, TUPLE } kind_t;
typedef struct {
    kind_t kind;
    int dimensions;        /* of an array; of a tuple: its members, which come next */
    int written;
    Py_ssize_t itemsize, alignment;
    PyObject *description; /* of the array's dtype, a str */
    PyObject *seen;        /* the dtype that had this description last */
} argument_t;
typedef struct {
    kernel_function function;
    int arguments, given, results; /* `given`: without members of tuples */
    PyObject *describe, *otherwise;
    argument_t argument[MOST_ARGUMENTS];
} kernel_t;
typedef struct {
    int64_t slots[MOST_SLOTS];
    Py_buffer views[MOST_ARGUMENTS];
    int slot, view, argument;
} call_t;

static PyObject *dtype_name;

/* Whether the array has the dtype that the kernel was compiled for. Errors are no fit. */
static int has_dtype(kernel_t *kernel, argument_t *wanted, PyObject *array) {
    PyObject *dtype = PyObject_GetAttr(array, dtype_name);
    if (!dtype) return 0;
    if (dtype == wanted->seen) {
        Py_DECREF(dtype);
        return 1;
    }
    PyObject *description = PyObject_CallFunctionObjArgs(kernel->describe, dtype, NULL);
    int fits = description ? PyObject_RichCompareBool(description, wanted->description, Py_EQ) : -1;
    Py_XDECREF(description);
    if (fits != 1) {
        Py_DECREF(dtype);
        return 0;
    }
    PyObject *before = wanted->seen;
    wanted->seen = dtype;
    Py_XDECREF(before);
    return 1;
}

static int take(kernel_t *kernel, call_t *call, PyObject *given);

static int take_array(kernel_t *kernel, argument_t *wanted, call_t *call, PyObject *array) {
    if (!has_dtype(kernel, wanted, array)) return 0;
    Py_buffer *view = &call->views[call->view];
    if (PyObject_GetBuffer(array, view, PyBUF_C_CONTIGUOUS | (wanted->written ? PyBUF_WRITABLE : 0)) < 0) return 0;
    call->view++;
    if (view->ndim != wanted->dimensions || view->itemsize != wanted->itemsize) return 0;
    if ((uintptr_t)view->buf % (uintptr_t)wanted->alignment != 0) return 0;
    call->slots[call->slot++] = (int64_t)(intptr_t)view->buf;
    for (int i = 0; i < wanted->dimensions; i++) call->slots[call->slot++] = view->shape[i];
    return 1;
}

static int take_tuple(kernel_t *kernel, argument_t *wanted, call_t *call, PyObject *tuple) {
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != wanted->dimensions) return 0;
    for (int i = 0; i < wanted->dimensions; i++)
        if (!take(kernel, call, PyTuple_GetItem(tuple, i))) return 0;
    return 1;
}

/* Write the next argument into the slots; 0 if it is not what the kernel was compiled for. */
static int take(kernel_t *kernel, call_t *call, PyObject *given) {
    argument_t *wanted = &kernel->argument[call->argument++];
    double number;
    switch (wanted->kind) {
    case ARRAY:
        return take_array(kernel, wanted, call, given);
    case TUPLE:
        return take_tuple(kernel, wanted, call, given);
    case BOOL:
        if (!PyBool_Check(given)) return 0;
        call->slots[call->slot++] = given == Py_True;
        return 1;
    case INT:
        if (!PyIndex_Check(given)) return 0;
        call->slots[call->slot] = PyLong_AsLongLong(given);
        return !(call->slots[call->slot++] == -1 && PyErr_Occurred());
    case FLOAT:
        number = PyFloat_AsDouble(given);
        memcpy(&call->slots[call->slot++], &number, sizeof number);
        return !(number == -1.0 && PyErr_Occurred());
    }
    return 0;
}

static PyObject *call_otherwise(kernel_t *kernel, PyObject *const *given, Py_ssize_t number) {
    PyErr_Clear();
    PyObject *arguments = PyTuple_New(number);
    if (!arguments) return NULL;
    for (Py_ssize_t i = 0; i < number; i++) {
        Py_INCREF(given[i]);
        PyTuple_SetItem(arguments, i, given[i]);
    }
    PyObject *result = PyObject_CallObject(kernel->otherwise, arguments);
    Py_DECREF(arguments);
    return result;
}

static PyObject *call(PyObject *capsule, PyObject *const *given, Py_ssize_t number) {
    kernel_t *kernel = PyCapsule_GetPointer(capsule, NAME);
    if (!kernel) return NULL;
    call_t call;
    call.slot = RESULTS;
    call.view = call.argument = 0;
    int fits = number == kernel->given;
    for (int i = 0; fits && i < kernel->given; i++) fits = take(kernel, &call, given[i]);
    int32_t status = 0;
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        status = kernel->function(call.slots);
        Py_END_ALLOW_THREADS
    }
    for (int i = 0; i < call.view; i++) PyBuffer_Release(&call.views[i]);
    if (!fits) return call_otherwise(kernel, given, number);
    if (status != 0) return PyErr_Format(PyExc_RuntimeError, "a kernel ended with status %d", (int)status);
    if (kernel->results == 0) Py_RETURN_NONE;
    if (kernel->results == 1) return PyLong_FromLongLong(call.slots[0]);
    return Py_BuildValue("(LL)", (long long)call.slots[0], (long long)call.slots[1]);
}

static PyMethodDef call_definition = {"kernel", (PyCFunction)(void (*)(void))call, METH_FASTCALL, NULL};

static void forget(kernel_t *kernel) {
    for (int i = 0; i < kernel->arguments; i++) {
        Py_XDECREF(kernel->argument[i].description);
        Py_XDECREF(kernel->argument[i].seen);
    }
    Py_XDECREF(kernel->describe);
    Py_XDECREF(kernel->otherwise);
    PyMem_Free(kernel);
}

static void forget_capsule(PyObject *capsule) { forget(PyCapsule_GetPointer(capsule, NAME)); }

/* Read what is told of one argument: (kind, dimensions or members, written, itemsize, alignment, description). */
static int read_argument(kernel_t *kernel, PyObject *told, int *slots) {
    int kind;
    if (kernel->arguments == MOST_ARGUMENTS) return 0;
    argument_t *one = &kernel->argument[kernel->arguments];
    if (!PyTuple_Check(told)
        || !PyArg_ParseTuple(told, "iiinnU", &kind, &one->dimensions, &one->written, &one->itemsize, &one->alignment,
                             &one->description)) {
        one->description = NULL;
        return 0;
    }
    Py_INCREF(one->description);
    kernel->arguments++;
    one->kind = (kind_t)kind;
    *slots += kind == TUPLE ? 0 : kind == ARRAY ? 1 + one->dimensions : 1;
    return kind >= ARRAY && kind <= TUPLE && one->dimensions >= 0 && one->dimensions < MOST_ARGUMENTS
           && one->alignment > 0 && *slots <= MOST_SLOTS;
}

/* Whether the tuples have as many members as they say. Counts the arguments that a call gives. */
static int count_given(kernel_t *kernel) {
    int at = 0, open = 0;
    Py_ssize_t left[MOST_ARGUMENTS];
    for (; at < kernel->arguments; at++) {
        if (open == 0) kernel->given++;
        if (open > 0) left[open - 1]--;
        if (kernel->argument[at].kind == TUPLE) left[open++] = kernel->argument[at].dimensions;
        while (open > 0 && left[open - 1] == 0) open--;
    }
    return open == 0;
}

static PyObject *bind(PyObject *module, PyObject *given) {
    (void)module;
    unsigned long long address;
    PyObject *list, *describe, *otherwise;
    int results, slots = RESULTS;
    if (!PyArg_ParseTuple(given, "KO!iOO", &address, &PyList_Type, &list, &results, &describe, &otherwise)) return NULL;
    kernel_t *kernel = PyMem_Calloc(1, sizeof *kernel);
    if (!kernel) return PyErr_NoMemory();
    kernel->function = (kernel_function)(uintptr_t)address;
    kernel->results = results;
    kernel->describe = Py_NewRef(describe);
    kernel->otherwise = Py_NewRef(otherwise);
    int sound = results >= 0 && results <= RESULTS;
    for (Py_ssize_t i = 0; sound && i < PyList_Size(list); i++)
        sound = read_argument(kernel, PyList_GetItem(list, i), &slots);
    if (!sound || !count_given(kernel)) {
        forget(kernel);
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no arguments that a kernel takes");
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(kernel, NAME, forget_capsule);
    if (!capsule) {
        forget(kernel);
        return NULL;
    }
    PyObject *function = PyCFunction_NewEx(&call_definition, capsule, NULL);
    Py_DECREF(capsule);
    return function;
}

/* The x86-64 level of this processor, 1 to 4, as the processor supplement of the System V ABI defines them; 0 on
   processors of other kinds. */
static PyObject *level(PyObject *module, PyObject *none) {
    (void)module;
    (void)none;
    long found = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
#define HAS(what) __builtin_cpu_supports(what)
    found = 1;
    if (HAS("sse3") && HAS("ssse3") && HAS("sse4.1") && HAS("sse4.2") && HAS("popcnt")) found = 2;
    if (found == 2 && HAS("avx") && HAS("avx2") && HAS("bmi") && HAS("bmi2") && HAS("fma")) found = 3;
    if (found == 3 && HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl"))
        found = 4;
#endif
    return PyLong_FromLong(found);
}

static PyMethodDef methods[] = {
    {"bind", bind, METH_VARARGS, "bind(address, arguments, results, describe, otherwise): a function that runs a kernel"},
    {"level", level, METH_NOARGS, "level(): the x86-64 level of this processor; 0 on others"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "call", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_call(void) {
    dtype_name = PyUnicode_InternFromString("dtype");
    return dtype_name ? PyModule_Create(&definition) : NULL;
}
