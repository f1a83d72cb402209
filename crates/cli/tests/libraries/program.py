"""Calls a library that was built of a .pum file, as a user of Python would. Prints `all right` if everything is as it should be."""

import sys

import numpy

import linear


def raises(kind, part, function, *arguments):
    try:
        function(*arguments)
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"nothing was wrong with {arguments}")


context = linear.Context(sys.argv[1]) if len(sys.argv) > 1 else None
dotp = lambda xs, ys: linear.dotp(xs, ys, context=context)

product = dotp(numpy.array([1.0, 2.0, 3.0]), numpy.array([4.0, 5.0, 6.0]))
assert type(product) is float and product == 32.0
assert dotp([1, 2], (3.0, 4.0)) == 11.0
assert dotp(numpy.arange(10.0)[::2], numpy.ones(5)) == 20.0
assert dotp([], []) == 0.0
raises(TypeError, "dotp: xs has elements of type float32, and should have float64", dotp, numpy.ones(3, numpy.float32), [1])
raises(ValueError, "dotp: xs has 2 dimensions, and should have 1", dotp, numpy.ones((2, 2)), numpy.ones(2))
raises(ValueError, "as `xs` has", dotp, numpy.ones(3), numpy.ones(2))
assert linear.dotp.__annotations__["return"] == "float"
assert "The dot product of two vectors." in linear.dotp.__doc__ and ">>>" not in linear.dotp.__doc__

xs = numpy.arange(1000, dtype=numpy.int32)
assert (linear.turned(100, xs, context=context) == xs[::-1]).all()
raises(TypeError, "chunk is a float", linear.turned, 1.5, xs)

moments = linear.moments(numpy.array([1.0, 2.0, 6.0]), context=context)
assert moments.mean == 3.0 and moments.any is True and moments.centred.tolist() == [-2.0, -1.0, 3.0]

m = numpy.array([[1, 2, 3], [4, 5, 6]], numpy.float32)
scaled = linear.scaled(10, m, context=context)
assert scaled.dtype == numpy.float32 and (scaled == 10 * m.T).all()
assert (linear.scaled(1, m.T, context=context) == m).all()

assert linear.picked([10, 20, 30], [2, 0], context=context).tolist() == [30, 10]
raises(linear.Failure, "index 7", linear.picked, [10, 20, 30], [1, 7])
raises(TypeError, "places has elements of type float64", linear.picked, [10, 20, 30], [0.5])

shapes = linear.GrownShapes([7, 8], linear.GrownShapesShape([0, 1], [1.5, 0], [0, 2], [0, 3]))
grown = linear.grown(2.0, shapes, context=context)
assert grown.shape.Circle_0.tolist() == [3.0, 0.0] and grown.shape.Box_1.tolist() == [0.0, 6.0]
assert grown.name.dtype == numpy.uint32 and isinstance(grown, linear.GrownShapes)

line = (1.0, 2.0)
assert linear.weighted(line, ([1, 2, 3], 10.0), context=context).tolist() == [13.0, 15.0, 17.0]
raises(ValueError, "should have 3", linear.weighted, line, ([1, 2], 10.0))
raises(TypeError, "line should be a tuple of 2 parts: offset, weight", linear.weighted, 1.0, ([1, 2, 3], 10.0))
assert linear.next_prime(41, context=context) == 42 and 'other languages do not have. */ """' in linear.next_prime.__doc__
raises(ValueError, "for_ is 9223372036854775808, which is no i64", linear.next_prime, 1 << 63)
raises(RuntimeError, "there is no device `gpu`", linear.Context, "gpu")
print("all right")
