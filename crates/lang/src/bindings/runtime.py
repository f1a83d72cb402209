import ctypes
import operator
import pathlib
import threading
import typing

import numpy
import numpy.typing

_library = ctypes.CDLL(str(pathlib.Path(__file__).resolve().with_name(f"lib{_NAME}.so")))
_free = ctypes.CDLL(None).free
_free.argtypes, _free.restype = [ctypes.c_void_p], None

_TYPES = {
    "bool": (numpy.bool_, ctypes.c_bool),
    "i32": (numpy.int32, ctypes.c_int32),
    "i64": (numpy.int64, ctypes.c_int64),
    "u32": (numpy.uint32, ctypes.c_uint32),
    "u64": (numpy.uint64, ctypes.c_uint64),
    "f32": (numpy.float32, ctypes.c_float),
    "f64": (numpy.float64, ctypes.c_double),
    "i8": (numpy.int8, ctypes.c_int8),
    "i16": (numpy.int16, ctypes.c_int16),
    "u8": (numpy.uint8, ctypes.c_uint8),
    "u16": (numpy.uint16, ctypes.c_uint16),
    "f16": (numpy.float16, ctypes.c_uint16),
    "bf16": (numpy.uint16, ctypes.c_uint16),
}


class Failure(RuntimeError):
    """A check in the program failed: an index out of bounds, a division by zero, sizes that do not fit."""


def _function(name, result, *parameters):
    function = getattr(_library, f"{_NAME}_{name}")
    function.argtypes, function.restype = list(parameters), result
    return function


_context_new = _function("context_new", ctypes.c_void_p, ctypes.c_char_p)
_context_free = _function("context_free", None, ctypes.c_void_p)
_context_error = _function("context_error", ctypes.c_void_p, ctypes.c_void_p)


class Context:
    """A device: "cuda", "opencl", "cpu" or "sim"; without one, what PUMICE_DEVICE names, or the best that works."""

    def __init__(self, device: typing.Optional[str] = None):
        self._handle = _context_new(None if device is None else device.encode())
        if not self._handle:
            raise MemoryError("no context can be made")
        error = self._error()
        if error is not None:
            raise RuntimeError(error)

    def __del__(self):
        if getattr(self, "_handle", None):
            _context_free(self._handle)

    def _error(self):
        text = _context_error(self._handle)
        if not text:
            return None
        try:
            return ctypes.string_at(text).decode(errors="replace")
        finally:
            _free(text)

    def _check(self, status):
        if status != 0:
            error = self._error() or f"error {status}"
            raise {1: ValueError, 2: Failure}.get(status, RuntimeError)(error)


_lock = threading.Lock()
_default = None


def _context(context):
    global _default
    if context is not None:
        return context
    with _lock:
        if _default is None:
            _default = Context()
        return _default


class _Scalar:
    def __init__(self, kind):
        self.kind = kind
        self.ctype = _TYPES[kind][1]

    def leaves(self):
        return [self]

    def parameter(self):
        return self.ctype

    def take(self, call, name, value):
        call.arguments.append(self.ctype(self.checked(f"{call.name}: {name}", value)))

    def checked(self, name, value):
        if self.kind == "bool":
            if isinstance(value, (bool, numpy.bool_)):
                return bool(value)
        elif self.kind in ("f32", "f64"):
            if not isinstance(value, (bool, numpy.bool_, str, bytes)):
                try:
                    return float(value)
                except (TypeError, ValueError):
                    pass
        elif not isinstance(value, (bool, numpy.bool_)):
            try:
                number = operator.index(value)
            except TypeError:
                pass
            else:
                limits = numpy.iinfo(_TYPES[self.kind][0])
                if limits.min <= number <= limits.max:
                    return number
                raise ValueError(f"{name} is {number}, which is no {self.kind}")
        raise TypeError(f"{name} is a {type(value).__name__}, and should be a number of type {self.kind}")

    def place(self, call):
        call.results.append(self.ctype())

    def give(self, call):
        return next(call.places).value


class _Array:
    def __init__(self, kind, rank):
        self.kind = kind
        self.rank = rank
        self.dtype = numpy.dtype(_TYPES[kind][0])
        name, pointer = f"{kind}_{rank}d", ctypes.c_void_p
        self.new = _function(f"new_{name}", pointer, pointer, pointer, *[ctypes.c_int64] * rank)
        self.values = _function(f"values_{name}", ctypes.c_int, pointer, pointer, pointer)
        self.shape = _function(f"shape_{name}", ctypes.c_int, pointer, pointer, pointer)
        self.free = _function(f"free_{name}", ctypes.c_int, pointer, pointer)

    def leaves(self):
        return [self]

    def parameter(self):
        return ctypes.c_void_p

    def take(self, call, name, value):
        array = self.checked(f"{call.name}: {name}", value)
        handle = self.new(call.context._handle, array.ctypes.data, *array.shape)
        if not handle:
            raise ValueError(call.context._error() or f"{call.name}: {name} cannot be made an array")
        call.held.append((self, handle))
        call.arguments.append(ctypes.c_void_p(handle))

    def checked(self, name, value):
        found = numpy.asarray(value)
        if found.ndim != self.rank:
            raise ValueError(f"{name} has {found.ndim} dimensions, and should have {self.rank}")
        if found.dtype != self.dtype:
            # Plain sequences have no type that somebody chose: they are converted, if nothing gets lost.
            converted = None
            if not isinstance(value, (numpy.ndarray, numpy.generic)):
                converted = self.converted(found)
            if converted is None:
                raise TypeError(
                    f"{name} has elements of type {found.dtype}, and should have {self.dtype}; "
                    f"convert it with .astype(numpy.{self.dtype.name})"
                )
            found = converted
        return numpy.ascontiguousarray(found)

    def converted(self, found):
        if found.size == 0 or self.dtype.kind == "f" and found.dtype.kind in "iuf":
            return found.astype(self.dtype)
        if self.dtype.kind in "iu" and found.dtype.kind in "iu":
            converted = found.astype(self.dtype)
            same_sign = (converted < 0) == (found < 0)
            return converted if (converted == found).all() and same_sign.all() else None
        return None

    def place(self, call):
        call.results.append(ctypes.c_void_p())

    def give(self, call):
        handle, context = next(call.places), call.context
        shape = (ctypes.c_int64 * self.rank)()
        context._check(self.shape(context._handle, handle, shape))
        array = numpy.empty(tuple(shape), self.dtype)
        context._check(self.values(context._handle, handle, array.ctypes.data))
        return array


class _Parts:
    def __init__(self, make, names, parts):
        self.make = make
        self.names = names
        self.parts = parts

    def leaves(self):
        return [leaf for part in self.parts for leaf in part.leaves()]

    def take(self, call, name, value):
        if not isinstance(value, tuple) or len(value) != len(self.parts):
            names = ", ".join(self.names)
            raise TypeError(f"{call.name}: {name} should be a tuple of {len(self.parts)} parts: {names}")
        for part_name, part, value in zip(self.names, self.parts, value):
            part.take(call, f"{name}.{part_name}", value)

    def place(self, call):
        for part in self.parts:
            part.place(call)

    def give(self, call):
        return self.make([part.give(call) for part in self.parts])


class _Call:
    def __init__(self, name, context):
        self.name = name
        self.context = context
        self.arguments = []
        self.results = []
        self.held = []
        self.places = None


class _Function:
    def __init__(self, name, c_name, parameters, result):
        self.name = name
        self.parameters = parameters
        self.result = result
        results = [ctypes.c_void_p for _ in result.leaves()]
        taken = [leaf.parameter() for _, parameter in parameters for leaf in parameter.leaves()]
        self.function = _function(c_name, ctypes.c_int, ctypes.c_void_p, *results, *taken)

    def __call__(self, context, *arguments):
        call = _Call(self.name, _context(context))
        try:
            for (name, parameter), argument in zip(self.parameters, arguments):
                parameter.take(call, name, argument)
            self.result.place(call)
            places = [ctypes.byref(result) for result in call.results]
            call.context._check(self.function(call.context._handle, *places, *call.arguments))
            call.held += [(leaf, place) for leaf, place in zip(self.result.leaves(), call.results) if isinstance(leaf, _Array)]
            call.places = iter(call.results)
            return self.result.give(call)
        finally:
            for leaf, handle in call.held:
                leaf.free(call.context._handle, handle)
